import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, shake
from torch_geometric.nn import norm
from zoo import ZOO

from graphsct.nn import GCNConv

NORMS = {
    "batch norm": lambda: torch.nn.BatchNorm1d(WIDTH),
    "batch norm with settings": lambda: torch.nn.BatchNorm1d(WIDTH, eps=0.1, momentum=0.4),
    "batch norm of a graph": lambda: norm.BatchNorm(WIDTH),
    "layer norm": lambda: torch.nn.LayerNorm(WIDTH),
    "layer norm without weights": lambda: torch.nn.LayerNorm(WIDTH, elementwise_affine=False),
    "layer norm of nodes": lambda: norm.LayerNorm(WIDTH, mode="node"),
    "layer norm of the graph": lambda: norm.LayerNorm(WIDTH, eps=0.1),
    "pair norm": lambda: norm.PairNorm(scale=2.0, eps=0.1),
    "pair norm of nodes": lambda: norm.PairNorm(scale=2.0, scale_individually=True),
    "mean subtraction": lambda: norm.MeanSubtractionNorm(),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms(context, name):
    context.check(lambda net, x, graph: net.norm(x), norm=NORMS[name]())


@pytest.mark.parametrize("name", [name for name in NORMS if "batch" not in name])
def test_norms_of_features_that_are_all_alike(name):
    """After centering they are zero, where square roots have no slope."""
    models = [Net(lambda net, x, graph: net.norm(x), norm=NORMS[name]()) for _ in range(2)]
    for seed, model in enumerate(models):
        shake(model, seed)
        torch.nn.init.zeros_(model.input.weight)
        torch.nn.init.ones_(model.input.bias)
    check_gradients(Problem(), models)


def test_norms_of_coordinates():
    class Control(torch.nn.Module):
        needs_initial = False

        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(WIDTH)

        def forward(self, pooled, initial):
            return self.norm(pooled)

    conv = GCNConv(WIDTH, WIDTH, bias=False, control="pooled", num_components=3)
    conv.control.coefficients = Control()
    models = [shake(Net(lambda net, x, graph: net.a(x, graph), a=conv), s) for s in range(2)]
    check_gradients(Problem(), models)


REFUSED = {
    "another norm": lambda: norm.GraphNorm(WIDTH),
    "batch norm without weights": lambda: torch.nn.BatchNorm1d(WIDTH, affine=False),
    "batch norm without moments": lambda: torch.nn.BatchNorm1d(WIDTH, track_running_stats=False),
    "batch norm with a mean of all": lambda: torch.nn.BatchNorm1d(WIDTH, momentum=None),
    "layer norm without a bias": lambda: torch.nn.LayerNorm(WIDTH, bias=False),
    "layer norm of all entries": lambda: torch.nn.LayerNorm((9, WIDTH), elementwise_affine=False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_left_to_autograd(name):
    model = shake(Net(lambda net, x, graph: net.norm(x), norm=REFUSED[name]()), 0)
    problem = Problem(runs=1)
    problem.loss(model, problem.splits[0])  # autograd can
    assert not problem.supports(model)


def test_a_batch_of_one_node_is_left_to_autograd():
    model = shake(Net(lambda net, x, graph: net.norm(x), norm=torch.nn.BatchNorm1d(WIDTH)), 0)
    assert not Problem(ZOO["one_node"]).supports(model)
