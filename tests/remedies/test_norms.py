from types import SimpleNamespace

import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct.remedies import REMEDIES
from graphsct.training import ModelConfig, TrainConfig

CLOSE = dict(rtol=2e-3, atol=2e-3)  # each norm adds a tiny number of its own to a denominator


def center(x):
    return x - x.mean(0)


def batch_norm(x, value=None):
    return center(x) / (x.var(0, correction=0) + 1e-5).sqrt()


def softmax_rows(x):
    return torch.stack([row.exp() / row.exp().sum() for row in x])


#: The equation of each norm, at the start of training: ``equation(x, number)``.
EQUATIONS = {
    "batch_norm": batch_norm,
    "layer_norm": lambda x, value: (
        center(x.flatten()).view_as(x) / (x.var(correction=0).sqrt() + 1e-5)
    ),
    "pair_norm": lambda x, s: s * center(x) / center(x).square().sum(1).mean().add(1e-5).sqrt(),
    "pair_norm_si": lambda x, s: s * center(x) / (center(x).norm(dim=1, keepdim=True) + 1e-5),
    "pair_norm_scs": lambda x, s: s * x / x.norm(dim=1, keepdim=True) - x.mean(0),
    "mean_subtraction": lambda x, value: center(x),
    "graph_norm": batch_norm,  # its share of the mean starts at one
    "node_norm": lambda x, p: x / x.var(1, correction=0, keepdim=True).pow(0.5 / p),
    "contra_norm": lambda x, s: (
        (1 + s) * x - s * softmax_rows((u := torch.nn.functional.normalize(x)) @ u.T) @ x
    ),
}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", EQUATIONS)
def test_it_is_the_equation_before_each_activation(name, place, case, graph, dense, x):
    if case.num_nodes == 1 and name == "batch_norm":
        pytest.skip("a single node has no variance, and PyTorch says so")
    remedy = REMEDIES[name]
    value = None if remedy.number is None else remedy.number.choices[place]
    base = ModelConfig(depth=2, hidden=5, init="glorot", activation="tanh", dropout=0.0)
    torch.manual_seed(3)
    data = SimpleNamespace(num_features=3, num_classes=2)
    model = remedy.configure(base, TrainConfig(), value)[0].build(data).double()
    h = torch.tanh(EQUATIONS[name](x @ model.input.weight.T + model.input.bias, value))
    for conv in model.convs:
        h = torch.tanh(EQUATIONS[name](dense.G @ h @ conv.lin.weight.T, value))
    assert_close(model(x, graph, return_layers=True)[1][-1], h, **CLOSE)


@pytest.mark.parametrize("lamda", REMEDIES["group_norm"].number.choices)
def test_group_norm_adds_normalised_groups(x, case, lamda):
    if case.num_nodes == 1:
        pytest.skip("a single node has no variance, and PyTorch says so")
    model = REMEDIES["group_norm"].apply(pyg.GCN(3, 3, 3, 2), value=lamda).double()
    norm = model.convs[0].norm
    shares = softmax_rows(x @ norm.lin.weight.T)
    expected = x + lamda * sum(batch_norm(shares[:, [k]] * x) for k in range(10))
    assert_close(norm(x), expected)


def test_the_scale_is_not_the_width():
    """``torch_geometric.nn.GCN(..., norm="PairNorm")`` takes the width for the scale."""
    theirs = pyg.GCN(3, 64, 3, 2, norm="PairNorm")
    assert theirs.norms[0].scale == 64
    ours = REMEDIES["pair_norm"].apply(pyg.GCN(3, 64, 3, 2))
    assert ours.convs[0].norm.scale == 1
