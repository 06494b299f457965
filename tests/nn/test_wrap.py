import copy
import pickle

import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError, ModelError
from graphsct.nn import add_control

CONVS = {
    "GATConv": (lambda: pyg.GATConv(3, 4, heads=2), 8),
    "GATConv mean": (lambda: pyg.GATConv(3, 4, heads=2, concat=False), 4),
    "GATv2Conv": (lambda: pyg.GATv2Conv(3, 4, heads=2), 8),
    "TransformerConv": (lambda: pyg.TransformerConv(3, 4, heads=2), 8),
    "SAGEConv": (lambda: pyg.SAGEConv(3, 4), 4),
    "GINConv": (lambda: pyg.GINConv(pyg.MLP([3, 5, 4])), 4),
    "GINConv of torch": (
        lambda: pyg.GINConv(
            torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 6))
        ),
        6,
    ),
    "ChebConv": (lambda: pyg.ChebConv(3, 4, K=3), 4),
    "GCNConv": (lambda: pyg.GCNConv(3, 4), 4),
    "GraphConv": (lambda: pyg.GraphConv(3, 4), 4),
    "lazy SAGEConv": (lambda: pyg.SAGEConv(-1, 4), 4),
}


@pytest.fixture(params=list(CONVS))
def made(request):
    torch.manual_seed(0)
    make, width = CONVS[request.param]
    conv = make().double()
    return conv, width


@pytest.mark.parametrize("kind", ["pooled", "gated", "gated_full"])
def test_adds_a_term_in_the_eigenspace(made, kind):
    conv, width = made
    case = ZOO["many_components"]
    edge_index, _ = case.inputs()
    graph = case.graph()
    x, x_0 = torch.randn(9, 3).double(), torch.randn(9, width).double()
    controlled = add_control(conv, kind, num_components=3).double()
    base = conv(x, edge_index)
    assert base.shape == (9, width)
    assert_close(controlled(x, edge_index, x_0=x_0), base)
    for parameter in controlled.control.parameters():
        parameter.data.normal_()
    term = controlled(x, edge_index, x_0=x_0) - base
    assert term.norm() > 0
    assert_close(graph.project(term), term)
    assert_close(controlled(x, graph, x_0=x_0), base + term)
    controlled(x, edge_index, x_0=x_0).sum().backward()
    assert all(p.grad.norm() > 0 for p in controlled.control.parameters() if kind != "gated_full")


def test_appnp_needs_its_width():
    with pytest.raises(
        ModelError, match="the width of the output of APPNP is not known: pass channels"
    ):
        add_control(pyg.APPNP(K=3, alpha=0.1), num_components=3)
    conv = add_control(pyg.APPNP(K=3, alpha=0.1), channels=5, num_components=3)
    conv.control.coefficients.bias.data.fill_(1.0)
    edge_index, _ = ZOO["many_components"].inputs()
    x = torch.randn(9, 5)
    term = conv(x, edge_index) - conv.conv(x, edge_index)
    assert_close(term, ZOO["many_components"].graph(torch.float32).basis[:, None].expand(9, 5))


@pytest.mark.parametrize("name", ["ChebConv", "GCNConv", "GraphConv"])
def test_weights_go_to_the_convolution_and_to_the_eigenspace(name):
    case = ZOO["weighted"]
    edge_index, edge_weight = case.inputs()
    conv = add_control(CONVS[name][0](), num_components=2).double()
    conv.control.coefficients.weight.data.normal_()
    x = torch.randn(5, 3, dtype=torch.float64)
    out = conv(x, edge_index, edge_weight)
    assert_close(conv(x, edge_index=edge_index, edge_weight=edge_weight), out)
    assert_close(conv(x, case.graph()), out)
    base = conv.conv(x, edge_index, edge_weight)
    assert_close(case.graph().project(out - base), out - base)
    assert not torch.allclose(conv(x, edge_index), out)


def test_other_arguments_and_results_pass_through():
    edge_index, _ = ZOO["connected"].inputs()
    conv = add_control(pyg.GATConv(3, 4, edge_dim=2), num_components=1)
    conv.control.coefficients.bias.data.fill_(1.0)
    x, edge_attr = torch.randn(6, 3), torch.randn(14, 2)
    out, (edges, attention) = conv(x, edge_index, edge_attr, return_attention_weights=True)
    expected, (_, wanted) = conv.conv(x, edge_index, edge_attr, return_attention_weights=True)
    assert_close(attention, wanted)
    assert edges.shape[1] == 14 + 6
    assert_close(out - expected, ZOO["connected"].graph(torch.float32).basis[:, None].expand(6, 4))


def test_convolutions_with_initial_features_share_them():
    case = ZOO["connected"]
    edge_index, _ = case.inputs()
    conv = add_control(pyg.GCN2Conv(3, 0.1, 0.5, 1), "gated")
    conv.control.coefficients.linear.bias.data.fill_(1.0)
    x, x_0 = torch.randn(6, 3), torch.randn(6, 3)
    out = conv(x, x_0, edge_index)
    assert_close(conv(x, edge_index=edge_index, x_0=x_0), out)
    assert (out - conv.conv(x, x_0, edge_index)).norm() > 0.1


def test_copies_state_and_reset(made):
    conv, _ = made
    edge_index, _ = ZOO["many_components"].inputs()
    x = torch.randn(9, 3, dtype=torch.float64)
    controlled = add_control(conv, num_components=3).double()
    controlled(x, edge_index)
    controlled.control.coefficients.weight.data.fill_(2.0)
    assert pickle.loads(pickle.dumps(controlled))(x, edge_index).equal(controlled(x, edge_index))
    twin = copy.deepcopy(controlled)
    assert twin(x, edge_index).equal(controlled(x, edge_index))
    twin.reset_parameters()
    assert twin.control.coefficients.weight.abs().max() == 0
    twin.load_state_dict(controlled.state_dict())
    assert twin(x, edge_index).equal(controlled(x, edge_index))


def test_inside_pyg_sequential():
    edge_index, _ = ZOO["many_components"].inputs()
    conv = add_control(pyg.GATConv(3, 4), num_components=3)
    model = pyg.Sequential("x, edge_index", [(conv, "x, edge_index -> x"), torch.nn.ReLU()])
    x = torch.randn(9, 3)
    assert_close(model(x, edge_index), conv(x, edge_index).relu())


def test_errors_teach():
    edge_index, _ = ZOO["many_components"].inputs()
    for message, call in {
        "Linear.forward takes no edge_index, so .*; it takes input": lambda: add_control(
            torch.nn.Linear(3, 4), channels=4, num_components=1
        ),
        "no control 'poled', did you mean 'pooled'": lambda: add_control(
            pyg.SAGEConv(3, 4), "poled"
        ),
        "num_components=graph.num_components": lambda: add_control(pyg.SAGEConv(3, 4)),
        "needs the initial features": lambda: add_control(pyg.SAGEConv(3, 4), "gated")(
            torch.ones(9, 3), edge_index
        ),
        "num_components=4, this graph has 3": lambda: add_control(
            pyg.SAGEConv(3, 4), num_components=4
        )(torch.ones(9, 3), edge_index),
    }.items():
        with pytest.raises(ModelError, match=message):
            call()
    with pytest.raises(GraphError, match="is directed"):
        add_control(pyg.SAGEConv(3, 4), num_components=3)(torch.ones(9, 3), edge_index[:, :3])
