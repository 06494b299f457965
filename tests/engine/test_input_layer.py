import pytest
import torch
from recording import FEATURES, WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F
from torch.testing import assert_close

from graphsct.engine.input_layer import Features
from graphsct.nn import GCNConv
from graphsct.nn.linear import Linear, dropout

SPARSE = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


class InputNet(Net):
    """A net whose body reads the data themselves."""

    def forward(self, x, graph):
        return self.output(torch.tanh(self.body(self, x, graph)))


def layer(*, bias=True):
    return Linear(FEATURES, WIDTH, bias=bias)


READERS = {
    "plain": (lambda net, x, graph: net.input(x), {}),
    "without a bias": (lambda net, x, graph: net.input(x) + net.b(x), dict(b=layer(bias=False))),
    "used twice": (lambda net, x, graph: torch.tanh(net.input(x)) + net.input(x), {}),
    "propagated": (lambda net, x, graph: graph.propagate(net.input(x)), {}),
    "dropped": (lambda net, x, graph: net.input(dropout(x, 0.3, net.training)), {}),
}


def two_layers_of_one_mask(net, x, graph):
    dropped = dropout(x, 0.5, net.training)
    return torch.sigmoid(net.input(dropped)) + net.b(dropped)


READERS["one mask"] = (two_layers_of_one_mask, dict(b=layer(bias=False)))


@SPARSE
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("name", READERS)
def test_linear_layers_of_the_data(name, runs, sparse):
    body, parts = READERS[name]
    models = [shake(InputNet(body, **parts), seed) for seed in range(runs)]
    check_gradients(Problem(sparse=sparse, runs=runs), models)


def test_the_layer_of_torch_reads_dense_data():
    models = [shake(InputNet(READERS["plain"][0]), seed) for seed in range(2)]
    for seed, model in enumerate(models):
        model.input = shake(torch.nn.Linear(FEATURES, WIDTH), seed)
    check_gradients(Problem(), models)


@pytest.mark.parametrize("runs", [1, 3])
def test_sparse_features_are_blocks_on_a_diagonal(runs):
    x = Problem(sparse=True).x
    blocks = Features(x, runs).blocks
    assert_close(blocks.matrix.to_dense(), torch.block_diag(*[x.to_dense()] * runs))
    assert_close(blocks.back.to_dense(), torch.block_diag(*[x.to_dense()] * runs).t())


def drop(net, x):
    return dropout(x, 0.5, net.training)


REFUSED = {
    "propagation": lambda net, x, graph: net.input(graph.propagate(x)),
    "a convolution": lambda net, x, graph: net.conv(x, graph) + net.input(x),
    "an activation": lambda net, x, graph: net.input(F.relu(x)),
    "a factor": lambda net, x, graph: net.input(x * 0.5),
    "a concatenation": lambda net, x, graph: net.wide(torch.cat([x, net.input(x)], dim=1)),
    "a norm": lambda net, x, graph: net.input(net.norm(x)),
    "coordinates": lambda net, x, graph: net.input(x + graph.project(x)),
    "two masks": lambda net, x, graph: net.input(drop(net, x)) + net.input(drop(net, x)),
    "dropout of dropped data": lambda net, x, graph: net.input(drop(net, drop(net, x))),
    "with and without dropout": lambda net, x, graph: net.input(drop(net, x)) + net.input(x),
    "without and with dropout": lambda net, x, graph: net.input(x) + net.input(drop(net, x)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_operations_on_the_data_are_left_to_autograd(name):
    parts = {
        "a concatenation": dict(wide=Linear(FEATURES + WIDTH, WIDTH)),
        "a convolution": dict(conv=GCNConv(FEATURES, WIDTH)),
        "a norm": dict(norm=torch.nn.BatchNorm1d(FEATURES)),
    }
    model = shake(InputNet(REFUSED[name], **parts.get(name, {})), 0)
    problem = Problem(runs=1)
    problem.loss(model, problem.splits[0])  # autograd can
    assert not problem.supports(model)
