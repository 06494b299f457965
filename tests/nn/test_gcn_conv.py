import pytest
import torch
import torch_geometric.nn as pyg
from convolutions import FORMS, edges_of, gradients
from torch.testing import assert_close
from torch_geometric.nn.models.basic_gnn import BasicGNN
from zoo import ZOO

from graphsct.nn import GCNConv


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [True, False])
def test_gcn_conv_is_that_of_pyg(case, x, form, bias):
    theirs = pyg.GCNConv(3, 4, bias=bias).double()
    if bias:
        theirs.bias.data.normal_()
    ours = GCNConv(3, 4, bias=bias).double()
    ours.load_state_dict(theirs.state_dict())
    x.requires_grad_()
    out, expected = ours(x, *edges_of(case, form)), theirs(x, *case.inputs())
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, *ours.parameters()),
        gradients(expected, x, *[dict(theirs.named_parameters())[k] for k in ours.state_dict()]),
        strict=True,
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


class ControlledNet(BasicGNN):
    supports_edge_weight = True
    supports_edge_attr = False
    supports_norm_batch = False

    def init_conv(self, in_channels, out_channels, **kwargs):
        return GCNConv(in_channels, out_channels, **kwargs)


def test_inside_a_basic_gnn_of_pyg():
    case = ZOO["weighted"]
    edge_index, edge_weight = case.inputs()
    settings = dict(num_layers=3, out_channels=2, dropout=0.0)
    net = ControlledNet(3, 4, control="pooled", num_components=2, **settings).double()
    base = pyg.GCN(3, 4, **settings).double()
    missing = net.load_state_dict(base.state_dict(), strict=False).missing_keys
    assert all(".control." in key for key in missing)
    x = torch.randn(5, 3, dtype=torch.float64)
    out = net(x, edge_index, edge_weight=edge_weight)
    assert_close(out, base(x, edge_index, edge_weight=edge_weight), rtol=1e-10, atol=1e-10)
    out.sum().backward()
    assert net.convs[0].control.coefficients.weight.grad.norm() > 0
