import copy
from dataclasses import replace

import pytest
import torch
from shapes import shapes
from torch.nn import functional
from torch_geometric.nn import GIN, global_mean_pool

from graphsct import fit, fit_many, nn
from graphsct.datasets import Fractions, Split, from_graphs
from graphsct.training import ModelConfig, TrainConfig, run_seeds
from graphsct.training.backend import choose_backend
from graphsct.training.compare import compare_control
from graphsct.training.graphs import read_data
from graphsct.training.mini_batches import MiniBatches, MiniBatchRun

CONFIG = TrainConfig(epochs=4, learning_rate=0.02, batch_size=8)


@pytest.fixture(scope="module")
def graphs():
    return from_graphs(shapes(), split=Fractions())


@pytest.fixture(scope="module")
def own(graphs):
    return read_data(graphs)


class Pooled(torch.nn.Module):
    """A model of another library, with dropout that draws from PyTorch's global generator."""

    def __init__(self, outputs=2):
        super().__init__()
        self.encoder = GIN(2, 16, num_layers=2, dropout=0.2)
        self.output = torch.nn.Linear(16, outputs)

    def forward(self, x, edge_index, batch):
        return self.output(global_mean_pool(self.encoder(x, edge_index), batch))


def gcn(**options):
    torch.manual_seed(1)
    return nn.GCN(2, 16, 2, 2, control="gated", readout="mean", **options)


def foreign():
    torch.manual_seed(1)
    return Pooled()


MODELS = pytest.mark.parametrize("make", [lambda: gcn(dropout=0.3), foreign], ids=["ours", "pyg"])


@MODELS
def test_a_model_learns_to_tell_cycles_from_trees(graphs, make):
    run = fit(make(), graphs, replace(CONFIG, epochs=30))
    assert run.backend == "autograd"
    assert run.test_score > 0.9
    assert run.history[-1].train_loss < 0.5 * run.history[0].train_loss


def test_numbers_of_graphs_are_learned():
    graphs = shapes()
    for graph in graphs:
        graph.y = graph.x[:, 0].mean(dim=0, keepdim=True)  # the share of leaves
    torch.manual_seed(0)
    run = fit(Pooled(1), graphs, replace(CONFIG, epochs=30, metric="mae"))
    assert run.metric == "mae" and run.test_score < 0.1


def test_the_backend_for_lists_is_chosen(own):
    assert choose_backend(gcn(), own) is MiniBatches
    assert MiniBatches([gcn()], [own], [CONFIG]).name == "autograd"


def test_an_epoch_is_one_pass_in_nearly_equal_batches(own, monkeypatch):
    run = MiniBatchRun(gcn(), own, replace(CONFIG, batch_size=9))
    seen = []
    scores_of = type(run.data).scores_of
    monkeypatch.setattr(
        type(run.data), "scores_of", lambda *call: (seen.append(call[2]), scores_of(*call))[1]
    )
    orders = []
    for _ in range(2):
        seen.clear()
        run.descend()
        orders.append(torch.cat(seen))
        assert [len(batch) for batch in seen] == [7, 7, 7, 7]
        assert torch.equal(orders[-1].sort().values, run.train)
    assert not torch.equal(*orders)


def test_the_loss_is_the_mean_over_graphs(own):
    run = MiniBatchRun(gcn(), own, replace(CONFIG, learning_rate=1e-12, batch_size=11))
    with torch.no_grad():
        scores = own.scores(run.model)
    expected = functional.cross_entropy(scores[own.train], own.y[own.train])
    assert run.descend().item() == pytest.approx(expected.item(), rel=1e-5)


def test_one_batch_of_all_graphs_is_a_step_on_their_loss(own):
    model = gcn()
    twin = copy.deepcopy(model)
    MiniBatchRun(model, own, replace(CONFIG, batch_size=100)).descend()
    adam = torch.optim.Adam(twin.param_groups(dense_weight_decay=5e-4), lr=CONFIG.learning_rate)
    functional.cross_entropy(own.scores(twin)[own.train], own.y[own.train]).backward()
    adam.step()
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_test_graphs_are_never_looked_at(graphs):
    spoiled = copy.copy(graphs)
    spoiled.graphs = [copy.copy(graph) for graph in graphs]
    for number in graphs.test_mask.nonzero()[:, 0].tolist():
        spoiled.graphs[number].x = 100 * graphs[number].x
    runs = [fit(gcn(), data, CONFIG) for data in (graphs, spoiled)]
    assert runs[0].history == runs[1].history


@MODELS
def test_a_killed_run_continues_bit_for_bit(graphs, make, tmp_path):
    class KilledError(Exception):
        pass

    def kill(epoch):
        if epoch.epoch == 6:
            raise KilledError

    config = replace(CONFIG, epochs=10, checkpoint_every=4, warm_up=9)
    whole = make()
    expected = fit(whole, graphs, config)
    with pytest.raises(KilledError):
        fit(make(), graphs, config, folder=tmp_path, callbacks=[kill])
    resumed = make()
    found = fit(resumed, graphs, config, folder=tmp_path)
    assert found.history == expected.history
    assert found.test_score == expected.test_score
    for name, weight in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], weight)


@MODELS
def test_runs_do_not_depend_on_those_beside_them(graphs, make):
    configs = [replace(CONFIG, seed=seed) for seed in range(2)]
    both = fit_many([make(), make()], graphs, configs)
    alone = [fit(make(), graphs, config) for config in configs]
    assert [run.history for run in both] == [run.history for run in alone]
    assert both[0].history != both[1].history


def test_all_steps_of_an_epoch_have_one_learning_rate(own):
    run = MiniBatchRun(gcn(), own, replace(CONFIG, warm_up=2))
    rates = []
    run.optimizer.register_step_pre_hook(
        lambda optimizer, *call: rates.append(optimizer.param_groups[0]["lr"])
    )
    for _ in range(3):
        run.descend()
    batches = len(rates) // 3
    assert batches > 1
    assert rates == [0.01] * batches + [0.02] * 2 * batches


def test_another_batch_size_is_another_run(graphs):
    runs = [fit(gcn(), graphs, replace(CONFIG, batch_size=size)) for size in (None, 32, 8)]
    assert runs[0].history == runs[1].history != runs[2].history


@MODELS
def test_batches_have_the_precision_of_the_run(graphs, make):
    low = fit(make(), graphs, replace(CONFIG, precision="bf16"))
    full = fit(make(), graphs, CONFIG)
    assert low.history != full.history
    losses = [[epoch.val_loss for epoch in run.history] for run in (low, full)]
    assert losses[0] == pytest.approx(losses[1], abs=0.1)


def test_moved_graphs_are_the_same_run(graphs):
    assert fit(gcn(), graphs, CONFIG, device="cpu").history == fit(gcn(), graphs, CONFIG).history


def test_seeds_take_the_splits_in_turn(graphs):
    draws = [Fractions(seed=seed).draw(graphs.y) for seed in range(2)]
    several = from_graphs(shapes(), split=draws)
    results = run_seeds(ModelConfig(control="gated", hidden=8), several, CONFIG, range(3))
    assert results.splits == (0, 1, 0)
    assert isinstance(several.splits[0], Split)
    plain = run_seeds(ModelConfig(hidden=8), shapes(), CONFIG, range(2))
    assert plain.splits == (None, None) and len(plain.finished) == 2


def test_controls_are_compared(graphs, tmp_path):
    found = compare_control(
        ModelConfig(control="gated", hidden=8), graphs, CONFIG, range(2), folder=tmp_path
    )
    assert len(found.differences) == 2
    again = compare_control(
        ModelConfig(control="gated", hidden=8),
        graphs,
        CONFIG,
        range(2),
        folder=tmp_path,
        resume=True,
    )
    assert [run.history for run in again.results.runs] == [
        run.history for run in found.results.runs
    ]
