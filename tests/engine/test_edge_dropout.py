import pytest
import torch
from recording import RECORDED, WIDTH, Net, Problem, check_gradients, shake
from zoo import ZOO

from graphsct.nn import EnergeticConv, GCN2Conv, GCNConv
from graphsct.nn.dropout import drop_edges
from graphsct.nn.linear import dropout

CONVOLUTIONS = {
    "gcn": (
        lambda **control: GCNConv(WIDTH, WIDTH, **control),
        lambda net, x, graph: net.conv(x, graph, x_0=x),
    ),
    "gcn2": (
        lambda **control: GCN2Conv(WIDTH, 0.2, 0.5, 1, **control),
        lambda net, x, graph: net.conv(torch.tanh(x), x, graph),
    ),
    "energetic": (
        lambda **control: EnergeticConv(WIDTH, 0.3, 0.1, **control),
        lambda net, x, graph: net.conv(torch.tanh(x), x, graph),
    ),
}


def on_fewer_edges(body):
    return lambda net, x, graph: body(net, x, drop_edges(graph, 0.4, net.training))


def test_propagation(context):
    context.check(on_fewer_edges(lambda net, x, graph: graph.propagate(x)))


@pytest.mark.parametrize("control", RECORDED)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(context, name, control):
    make, body = CONVOLUTIONS[name]
    context.check(on_fewer_edges(body), conv=make(control=control, num_components=3))


def test_two_layers_on_the_edges_that_are_left(context):
    @on_fewer_edges
    def body(net, x, graph):
        return graph.propagate(torch.tanh(graph.propagate(x))) + x

    context.check(body)


def test_features_that_are_dropped_as_well(context):
    @on_fewer_edges
    def body(net, x, graph):
        return graph.propagate(dropout(torch.relu(x), 0.5, net.training))

    context.check(body)


def test_weighted_edges_and_self_loops():
    body = on_fewer_edges(lambda net, x, graph: graph.propagate(x))
    models = [shake(Net(body), seed) for seed in range(2)]
    check_gradients(Problem(ZOO["weighted_self_loops"]), models, steps=5)


def test_dropping_edges_of_what_is_left_goes_to_autograd():
    body = on_fewer_edges(on_fewer_edges(lambda net, x, graph: graph.propagate(x)))
    assert not Problem().supports(shake(Net(body), 0))
