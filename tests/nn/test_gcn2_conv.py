import pytest
import torch
import torch_geometric.nn as pyg
from convolutions import FORMS, edges_of, gradients
from torch.testing import assert_close
from zoo import ZOO

from graphsct.nn import GCN2Conv, GCNConv


@pytest.mark.parametrize("form", FORMS)
def test_gcn2_conv_is_that_of_pyg(case, x, x_0, form):
    theirs = pyg.GCN2Conv(3, alpha=0.3, theta=0.7, layer=2).double()
    ours = GCN2Conv(3, 0.3, 0.7, 2).double()
    ours.load_state_dict(theirs.state_dict())
    x.requires_grad_()
    out, expected = ours(x, x_0, *edges_of(case, form)), theirs(x, x_0, *case.inputs())
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, x_0, ours.weight1),
        gradients(expected, x, x_0, theirs.weight1),
        strict=True,
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


def test_inside_pyg_sequential():
    case = ZOO["many_components"]
    edge_index, _ = case.inputs()
    model = pyg.Sequential(
        "x, edge_index",
        [
            (GCNConv(3, 4, control="pooled", num_components=3), "x, edge_index -> x"),
            torch.nn.ReLU(),
            (GCNConv(4, 4), "x, edge_index -> x0"),
            (GCN2Conv(4, 0.1, 0.5, 1, control="gated"), "x0, x0, edge_index -> x"),
            torch.nn.Linear(4, 2),
        ],
    ).double()
    x = torch.ones(9, 3, dtype=torch.float64)
    assert_close(model(x, edge_index), model(x, case.graph()))
