import pytest
import torch
from recording import RECORDED, WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F

from graphsct.engine.propagation import Propagate, PropagateLate
from graphsct.nn import EnergeticConv, GCN2Conv, GCNConv
from graphsct.nn.dropout import drop_edges
from graphsct.nn.linear import dropout

#: Convolutions as they are made with the settings of a control, and as they are called.
CONVOLUTIONS = {
    "gcn": (
        lambda **control: GCNConv(WIDTH, WIDTH, bias=False, **control),
        lambda net, x, graph: torch.tanh(net.conv(torch.tanh(x), graph, x_0=x)),
    ),
    "gcn2": (
        lambda **control: GCN2Conv(WIDTH, 0.2, 0.5, 1, **control),
        lambda net, x, graph: torch.tanh(net.conv(torch.tanh(x), x, graph)),
    ),
    "energetic": (
        lambda **control: EnergeticConv(WIDTH, 0.3, 0.1, **control),
        lambda net, x, graph: torch.tanh(net.conv(torch.tanh(x), x, graph)),
    ),
}


def nets(body, runs=2, **parts):
    return [shake(Net(body, **parts), seed) for seed in range(runs)]


@pytest.mark.parametrize("control", RECORDED)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(context, name, control):
    make, body = CONVOLUTIONS[name]
    context.check(body, conv=make(control=control, num_components=3))


def test_propagation_by_the_graph_itself(context):
    context.check(lambda net, x, graph: graph.propagate(torch.tanh(graph.propagate(x))) + x)


def test_initial_features_that_are_the_features(context):
    conv = GCN2Conv(WIDTH, 0.2, 0.5, 1, control="gated")
    context.check(lambda net, x, graph: net.conv(x, x, graph), conv=conv)


@pytest.mark.parametrize("edges", ["all", "fewer"])
def test_dropped_features_that_are_initial_ones_as_well(context, edges):
    """The scale of dropout is multiplied by once, though both inputs are one node."""

    def body(net, x, graph):
        if edges == "fewer":
            graph = drop_edges(graph, 0.4, net.training)
        dropped = dropout(torch.relu(x), 0.5, net.training)
        return net.conv(dropped, dropped, graph)

    context.check(body, conv=GCN2Conv(WIDTH, 0.2, 0.5, 1))


def test_coordinates_are_pooled_once_and_read_by_all_layers():
    def deep(net, x, graph):
        start = x = F.relu(x)
        pooled = graph.pool(start)
        for conv in net.convs:
            x = torch.tanh(conv(x, start, graph, pooled_0=pooled)) + x
        return x

    convs = [GCN2Conv(WIDTH, 0.1, 0.5, layer, control="gated") for layer in (1, 2, 3)]
    models = nets(deep, convs=torch.nn.ModuleList(convs))
    tape, _ = Problem().tapes(models)
    assert sum(type(node).__name__ == "Coordinates" for node in tape.nodes) == 1
    check_gradients(Problem(), models)


def test_initial_features_that_have_a_control_themselves(context):
    """There is no room behind them, so that their coordinates stand behind a copy."""

    def body(net, x, graph):
        start = net.a(torch.tanh(x), x, graph)
        return net.b(torch.tanh(start), start, graph) + start

    settings = dict(control="pooled", num_components=3)
    a, b = (GCN2Conv(WIDTH, 0.2, 0.5, layer, **settings) for layer in (1, 2))
    context.check(body, a=a, b=b)


@pytest.mark.parametrize("control", [None, "gated"])
def test_products_come_first_where_all_rows_are_needed(control):
    def two(net, x, graph):
        return net.b(torch.tanh(net.a(x, graph, x_0=x)), graph)

    conv = GCNConv(WIDTH, WIDTH, bias=False, control=control)
    models = nets(two, a=conv, b=GCNConv(WIDTH, WIDTH, bias=False))
    for tape in Problem().tapes(models):
        kinds = [type(node) for node in tape.nodes]
        assert kinds.index(PropagateLate) < kinds.index(Propagate)
