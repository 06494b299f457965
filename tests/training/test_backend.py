"""The engine and autograd compute the same runs; see tests/distributed for the third backend."""

import copy
from dataclasses import replace

import pytest
import torch
from backends import CASES, CONFIG, ENGINE_CASES, build, check_losses, losses, make_data, name_of
from recording import arrange

from graphsct import Graph, datasets
from graphsct.engine import dense_kernel, program
from graphsct.graph import kernels, order
from graphsct.training.autograd import Autograd
from graphsct.training.backend import EngineBackend, choose_backend
from graphsct.training.data import SplitData


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def data(request):
    data = make_data(request.param)
    data.x = data.x.double()
    return data


@pytest.fixture
def own(data):
    return SplitData.of(data)


@pytest.mark.parametrize("case", [*CASES, *ENGINE_CASES], ids=name_of)
def test_the_engine_and_autograd_give_the_same_losses(data, own, case):
    by_engine, engine = losses(build(data, case), own)
    by_autograd, _ = losses(build(data, case), own, Autograd)
    by_hook, autograd = losses(build(data, case, hooked=True), own)
    assert (engine, autograd) == ("engine", "autograd")
    check_losses(by_autograd, by_engine)
    assert torch.equal(by_hook, by_autograd)


@pytest.mark.parametrize("case", [*CASES, *ENGINE_CASES], ids=name_of)
def test_an_order_of_the_nodes_changes_nothing(data, own, case):
    """Neither the masks of dropout nor the results; the losses are equal up to rounding."""
    arranged = replace(own, edges=(arrange(own.edges[0]),))
    by_order, _ = losses(build(data, case), arranged, EngineBackend)
    check_losses(by_order, losses(build(data, case), own, EngineBackend)[0])


@pytest.fixture
def every_graph_is_large(monkeypatch):
    """All graphs are arranged and all products take the kernels of large ones; the list has those
    by the kernel of embeddings.
    """
    for module in (order, kernels, program):
        monkeypatch.setattr(module, "MANY_NODES", 100)
    monkeypatch.setattr(order, "_ROWS", 50)
    monkeypatch.setattr(dense_kernel, "_SIDE", 1)
    monkeypatch.setattr(dense_kernel, "_MANY", 1)
    monkeypatch.setattr(kernels, "_BLOCK_BYTES", 1 << 12)  # several blocks
    products, kernel = [], torch.embedding_bag
    monkeypatch.setattr(
        torch, "embedding_bag", lambda *args: (products.append(args), kernel(*args))[1]
    )
    return products


@pytest.mark.parametrize("case", [*CASES, *ENGINE_CASES], ids=name_of)
def test_single_precision_on_a_large_graph_is_close_to_double_on_a_small_one(
    every_graph_is_large, case
):
    """By the engine in an order of its own, and by autograd with PyTorch's products."""
    place = torch.randperm(900, generator=torch.Generator().manual_seed(0)).view(30, 30)
    steps = place[:, :-1].flatten(), place[:, 1:].flatten()  # thirty paths through shuffled nodes
    paths = torch.cat([torch.stack(steps), torch.stack(steps[::-1])], 1)
    data = datasets.csbm(900, 1800, num_classes=3, num_features=7, seed=2)
    data.edge_index = paths
    data.splits = [datasets.Split(*((torch.arange(900) + 1) % 3 == part for part in range(3)))]
    found = []
    for kind, dtype in ((EngineBackend, torch.float32), (Autograd, torch.float64)):
        data.x, data.graph = data.x.to(dtype), Graph(paths, 900, dtype=dtype)
        models = [build(data, case).to(dtype) for _ in range(2)]
        own = SplitData.of(data)
        assert own.edges[0].order is not None
        every_graph_is_large.clear()
        backend = kind(models, [own] * 2, [replace(CONFIG, seed=seed) for seed in range(2)])
        losses = [torch.stack([backend.descend(), backend.validate().val_loss]) for _ in range(3)]
        assert bool(every_graph_is_large) == (dtype == torch.float32)
        found.append(torch.stack(losses).double())
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def targets(kind):
    """Labels or numbers of the 90 nodes, some of which are missing; with several outputs."""
    draw = torch.randn(90, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    y = draw if kind == "numbers" else (draw > 0.3).double()
    return torch.where(draw > 1.2, torch.nan, y)


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        *(("classes", name) for name in ("balanced_accuracy", "f1_macro", "roc_auc")),
        *(("labels", name) for name in ("accuracy", "average_precision", "roc_auc", "f1_macro")),
        *(("numbers", name) for name in ("r2", "mae", "mse")),
    ],
)
@pytest.mark.parametrize("runs", [1, 2])
def test_they_do_so_for_other_targets_and_metrics(data, kind, metric, runs):
    data = copy.copy(data)
    case = CASES[1]
    models = [[build(data, case) for _ in range(runs)] for _ in range(2)]
    if kind != "classes":
        data.y = targets(kind)
    own = SplitData.of(data, metric=metric)
    configs = [replace(CONFIG, seed=seed) for seed in range(runs)]
    engine, autograd = (
        make(own_models, [own] * runs, configs)
        for make, own_models in zip((EngineBackend, Autograd), models, strict=True)
    )
    for _ in range(20):
        torch.testing.assert_close(engine.descend(), autograd.descend(), rtol=1e-10, atol=1e-10)
        for ours, theirs in zip(engine.validate(), autograd.validate(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
    assert choose_backend(models[0][0], own) is EngineBackend


def begin(kind, data, own, seeds, case=CASES[4]):
    configs = [replace(CONFIG, seed=seed, warm_up=6) for seed in seeds]
    models = [build(data, case) for _ in seeds]
    return kind(models, [own] * len(models), configs), models


def test_they_warm_up_alike_with_several_runs_at_once(data, own):
    """One run without it, one that is over it before the last epoch, one that is not."""
    case = {**CASES[1], "dropout": 0.0, "conv_dropout": 0.0}
    configs = [replace(CONFIG, warm_up=epochs) for epochs in (0, 5, 40)]
    engine, autograd = (
        kind([build(data, case) for _ in configs], [own] * 3, configs)
        for kind in (EngineBackend, Autograd)
    )
    for _ in range(15):
        found = engine.descend()
        torch.testing.assert_close(found, autograd.descend(), rtol=1e-10, atol=1e-10)
    assert found[0] < found[1] < found[2]


@pytest.mark.parametrize("kind", [EngineBackend, Autograd])
def test_the_first_steps_are_as_long_as_the_schedule_says(data, own, kind):
    """The first step of Adam has the length of the learning rate in each weight."""
    config = replace(CONFIG, warm_up=4, conv_weight_decay=0.0, dense_weight_decay=0.0)
    model = build(data, CASES[0])
    backend, before = kind([model], [own], [config]), model.output.bias.detach().clone()
    backend.descend()
    step = (backend.current(0)["output.bias"] - before).abs()
    torch.testing.assert_close(step, torch.full_like(step, 0.01 / 4), rtol=1e-4, atol=0)


BACKENDS = pytest.mark.parametrize("kind", [EngineBackend, Autograd])


@BACKENDS
def test_runs_do_not_depend_on_those_beside_them(data, own, kind):
    both, _ = begin(kind, data, own, [3, 5])
    one, _ = begin(kind, data, own, [5])
    for _ in range(4):
        assert both.descend()[1].item() == pytest.approx(one.descend().item(), rel=1e-12)
    both.keep(torch.tensor([1]))
    assert both.descend().item() == pytest.approx(one.descend().item(), rel=1e-10)


@BACKENDS
def test_a_state_is_all_that_the_rest_depends_on(data, own, kind):
    first, _ = begin(kind, data, own, [3, 5])
    for _ in range(3):
        first.descend()
    first.remember(torch.tensor([False, True]))
    first.descend()
    state = copy.deepcopy(first.state(1))
    second, _ = begin(kind, data, own, [7])
    second.restore(state)
    for name, weight in first.weights(1).items():
        assert torch.equal(second.weights(0)[name], weight)
    torch.rand(1)  # the caller's random numbers have nothing to do with it
    assert second.descend().item() == pytest.approx(first.descend()[1].item(), rel=1e-10)
    assert second.validate().val_loss.item() == pytest.approx(
        first.validate().val_loss[1].item(), rel=1e-10
    )


@BACKENDS
def test_other_weights_may_take_the_place_of_the_best(data, own, kind):
    first, _ = begin(kind, data, own, [3, 5])
    first.remember(torch.tensor([True, True]))
    first.descend()
    current = first.current(1)
    second, _ = begin(kind, data, own, [5])
    second.restore(first.state(1, current))
    for name, weight in second.weights(0).items():
        assert torch.equal(weight, current[name])
    assert not torch.equal(first.weights(1)["input.weight"], current["input.weight"])


@BACKENDS
def test_remembered_weights_stay_as_they_were(data, own, kind):
    backend, _ = begin(kind, data, own, [3])
    backend.descend()
    backend.remember(torch.tensor([True]))
    before = {name: weight.clone() for name, weight in backend.weights(0).items()}
    assert all(torch.equal(before[k], weight) for k, weight in backend.current(0).items())
    backend.descend()
    assert all(torch.equal(before[k], weight) for k, weight in backend.weights(0).items())
    assert not torch.equal(before["output.bias"], backend.current(0)["output.bias"])


def test_the_fastest_backend_that_fits_is_chosen(data, own):
    model = build(data, CASES[0])
    assert choose_backend(model, own) is EngineBackend
    assert choose_backend(build(data, CASES[0], hooked=True), own) is Autograd
    assert choose_backend(build(data, {**CASES[0], "norm": "GraphNorm"}), own) is Autograd
    sample = replace(own, edges=(data.graph.subgraph(torch.arange(80)),))
    assert choose_backend(model, sample) is Autograd


class Dropping(torch.nn.Module):
    """Draws from PyTorch's global generator."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(7, 3).double()
        torch.nn.init.ones_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, x, edge_index):
        return self.linear(torch.nn.functional.dropout(x, 0.5, self.training))


def test_models_that_use_the_global_generator_have_their_own_numbers(data):
    plain = SplitData.of(data, model=Dropping())

    def begin(*seeds):
        configs = [replace(CONFIG, seed=seed) for seed in seeds]
        return Autograd([Dropping() for _ in seeds], [plain] * len(seeds), configs)

    both, one, other = begin(3, 5), begin(3), begin(5)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    for _ in range(3):
        assert both.descend().tolist() == [one.descend().item(), other.descend().item()]
        both.validate()
    assert torch.equal(torch.get_rng_state(), before)
    again = begin(9)
    again.restore(copy.deepcopy(both.state(1)))
    assert again.descend().item() == both.descend()[1].item()
