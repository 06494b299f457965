import copy
import gc
import pickle
import weakref

import pytest
import torch
import torch_geometric.nn as pyg
from oracle import Dense
from torch.testing import assert_close
from zoo import ZOO

from graphsct import ModelError, diagnose, fit
from graphsct.errors import DivergedError
from graphsct.nn import GCN, EnergeticGNN
from graphsct.nn.feature_losses import FEATURE_LOSSES, FeatureLoss, add_feature_loss
from graphsct.training import TrainConfig
from graphsct.training.fingerprint import fingerprint

LOSSES = pytest.mark.parametrize("name", FEATURE_LOSSES)
CASES = ("connected", "many_components", "isolated_nodes", "weighted", "star", "path")


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


class Echo(torch.nn.Module):
    """Returns its input, as the output of a convolution."""

    def forward(self, x, edge_index):
        return x


def penalty(name, first, last, graph, weight=0.3):
    """The penalty of features that two convolutions gave out."""
    model = torch.nn.Sequential(Echo(), Echo())
    add_feature_loss(model, model, name, weight)
    for conv, x in zip(model, (first, last), strict=True):
        conv(x, edge_index=graph)
    return model.penalty()


@LOSSES
@pytest.mark.parametrize("case", CASES)
def test_the_value_is_that_of_dense_matrices(name, case):
    dense, graph = Dense(ZOO[case]), ZOO[case].graph()
    first, last = random(graph.num_nodes, 4), random(graph.num_nodes, 4, seed=1)
    last = 0.2 * last + 3 * dense.P @ last  # smoother
    last[:, 1:] *= 0.1  # nearer to rank one

    def measure(x):
        if name == "rank_loss":
            return dense.effective_rank(x)
        return dense.dirichlet_energy(x) / x.square().sum()

    expected = 0.3 * (measure(first) / measure(last)).log()
    assert expected > 0
    assert_close(penalty(name, first, last, graph), expected, rtol=1e-8, atol=1e-8)
    assert penalty(name, last, first, graph) == 0  # a rise costs nothing


@LOSSES
@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_differences(name, case):
    graph = ZOO[case].graph()
    n = graph.num_nodes
    first, start = random(n, 3), random(n, 3, seed=1)
    start = 0.1 * start * torch.tensor([1.0, 0.1, 0.01]) + 5 * graph.project(start[:, :1])
    last = start.requires_grad_()
    assert penalty(name, first, last, graph) > 0
    assert torch.autograd.gradcheck(lambda x: penalty(name, first, x, graph), [last])


def test_the_rank_has_a_gradient_where_singular_values_are_equal():
    first = torch.eye(6, dtype=torch.float64)
    last = torch.linalg.qr(random(6, 2)).Q.requires_grad_()
    loss = penalty("rank_loss", first, last, ZOO["connected"].graph())
    loss.backward()
    assert_close(loss.item(), 0.3 * torch.tensor(3.0).log().item())
    assert last.grad.isfinite().all()


@LOSSES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("last", ["dead", "smooth", "tiny"])
def test_collapsed_features_have_a_finite_penalty_and_gradient(name, dtype, last):
    graph = ZOO["connected"].graph(dtype)
    x = {
        "dead": torch.zeros(6, 3),
        "smooth": graph.unpool(torch.ones(1, 3, dtype=dtype)),
        "tiny": 1e-25 * random(6, 3),
    }[last]
    x = x.to(dtype).clone().requires_grad_()
    loss = penalty(name, random(6, 3, seed=3).to(dtype), x, graph)
    loss.backward()
    assert loss.isfinite()
    assert x.grad.isfinite().all()
    if last != "tiny":
        assert loss > 0.1


@LOSSES
def test_the_first_features_are_a_constant(name):
    graph = ZOO["connected"].graph()
    first = random(6, 3).requires_grad_()
    last = (graph.project(first) + 1e-3 * first).requires_grad_()
    loss = penalty(name, first, last.detach(), graph) + first.sum()
    (gradient,) = torch.autograd.grad(loss, first)
    assert_close(gradient, torch.ones_like(first))


def test_a_loss_has_the_own_penalty_and_other_losses(data):
    both = EnergeticGNN(16, 8, 3, 3, dirichlet_loss=0.2, rank_loss=0.4)
    both.convs[1].weight.data[0, 1] += 3
    options = ({"dirichlet_loss": 0.2}, {"rank_loss": 0.4})
    twins = [EnergeticGNN(16, 8, 3, 3, **option) for option in options]
    own = both.penalty()
    assert own == 60
    found = []
    for model in (both, *twins):
        model.load_state_dict(both.state_dict())
        model(data.x, data.graph)
        found.append(model.penalty() - own)
    assert found[1] > 0 and found[2] > 0
    assert_close(found[0], found[1] + found[2])
    assert both.penalty() == own  # it was for one pass


@LOSSES
def test_only_training_is_penalised_and_nothing_is_held(data, name):
    model = GCN(16, 8, 3, num_layers=8, init="glorot", **{name: 0.1})
    model.eval()(data.x, data.graph)
    assert model.penalty() == 0
    kept = []
    handle = model.convs[-1].register_forward_hook(
        lambda conv, args, out: kept.append(weakref.ref(out))
    )
    gc.disable()
    try:
        scores = model.train()(data.x, data.graph)
        assert kept[0]() is not None
        loss = scores.sum() + model.penalty()
        loss.backward()
        del scores, loss
        assert kept[0]() is None
    finally:
        gc.enable()
    handle.remove()


@LOSSES
@pytest.mark.parametrize("make", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_a_penalty_of_their_own(data, name, make):
    model = EnergeticGNN(16, 8, 3, 3, **{name: 0.1})
    model.convs[1].weight.data[0, 1] += 3
    model(data.x, data.graph)
    twin = make(model)  # in the middle of a step
    assert model.penalty() > 60
    assert twin.penalty() == 60
    twin(data.x, data.graph)
    assert model.penalty() == 60
    twin.convs[1].weight.data[0, 1] -= 3
    assert 0 < twin.penalty() < 60
    assert set(model.state_dict()) == set(EnergeticGNN(16, 8, 3, 3).state_dict())


def test_dropped_messages_do_not_change_the_energy(data):
    model = GCN(16, 8, 3, num_layers=8, init="glorot", message_dropout=0.5, dirichlet_loss=1.0)
    outputs = []
    for conv in (model.convs[0], model.convs[-1]):
        conv.register_forward_hook(lambda conv, args, out: outputs.append(out))
    model(data.x, data.graph)
    expected = penalty("dirichlet_loss", *outputs, data.graph, weight=1.0)
    assert_close(model.penalty(), expected)


@LOSSES
def test_models_are_trained_by_autograd_and_diagnosed(data, name):
    model = GCN(16, 8, 3, num_layers=4, init="glorot", dropout=0.5, **{name: 0.1})
    assert fit(model, data, TrainConfig(epochs=3)).backend == "autograd"
    assert len(diagnose(model, data, rival=False).layers) == 4
    assert fit(model, data, TrainConfig(epochs=2, precision="bf16")).epochs == 2


@LOSSES
def test_runs_that_diverge_end_as_others_do(data, name):
    model = GCN(16, 8, 3, num_layers=4, **{name: 0.1})
    model.convs[0].lin.weight.data[0, 0] = torch.nan
    with pytest.raises(DivergedError):
        fit(model, data, TrainConfig(epochs=2))


@LOSSES
def test_another_weight_is_another_run(name):
    found = []
    for weight in (0.1, 0.2):
        model = pyg.GCN(3, 8, 3, 2)
        add_feature_loss(model, model.convs, name, weight)
        found.append(fingerprint(model, {}, TrainConfig())["model"])
    assert found[0] != found[1]


@LOSSES
def test_what_cannot_be_penalised_is_refused(name):
    with pytest.raises(ModelError, match=f"{name} compares .* GCN has fewer than two of them"):
        GCN(3, 8, 2, num_layers=1, **{name: 0.1})
    for weight in (-1.0, "much"):
        with pytest.raises(ModelError, match=f"{name} is {weight!r}, expected a number above 0"):
            GCN(3, 8, 2, num_layers=2, **{name: weight})
    linear = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with pytest.raises(ModelError, match=r"Linear\.forward has no edge_index"):
        add_feature_loss(linear, linear, name, 0.1)
    with pytest.raises(ModelError, match="no loss 'rank', did you mean"):
        add_feature_loss(linear, linear, "rank", 0.1)
    assert not isinstance(GCN(3, 8, 2, num_layers=2, **{name: 0.0}).penalty, FeatureLoss)
