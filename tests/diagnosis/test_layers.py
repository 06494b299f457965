import pytest
import torch
from torch_geometric.nn import GAT, GCN, GCNConv, GINConv

from graphsct import nn
from graphsct.diagnosis.calling import prepare
from graphsct.diagnosis.layers import find_features, find_layers
from graphsct.errors import ModelError

pytestmark = pytest.mark.usefixtures("seed")


def names(model, data, **options):
    return find_layers(model, prepare(model, data), data.num_nodes, **options)


def convs(depth):
    return [f"convs.{i}" for i in range(depth)]


def test_convolutions_of_pyg_and_ours(data):
    assert names(GCN(16, 8, 3, 3, norm="batch_norm"), data) == convs(3)
    assert names(GAT(16, 8, 2, 3, heads=2), data) == convs(2)
    for made in (nn.GCN(16, 8, 3, 4), nn.GCNII(16, 8, 3, 2), nn.EnergeticGNN(16, 8, 3, 2)):
        assert names(made, data) == convs(made.num_layers)


def test_a_convolution_and_its_control_are_one(data):
    model = GCN(16, 8, 2, 3)
    model.convs[0] = nn.add_control(model.convs[0], num_components=3)
    assert names(model, data) == convs(2)


def test_a_network_inside_a_convolution_is_no_layer(data):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gin = GINConv(torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.Linear(8, 3)))

        def forward(self, x, edge_index):
            return self.gin(x, edge_index)

    assert names(Net(), data) == ["gin"]


class Sum(torch.nn.Module):
    """Message passing by hand."""

    def __init__(self, width):
        super().__init__()
        self.lin = torch.nn.Linear(width, width)

    def forward(self, x, edges):
        return torch.zeros_like(x).index_add(0, edges[1], self.lin(x)[edges[0]])


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Sum(16), Sum(16)

    def forward(self, x, edges):
        return self.two(self.one(x, edges=edges).relu(), edges)


class ByHand(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.head = Block(), torch.nn.Linear(16, 3)

    def forward(self, x, edge_index):
        return self.head(self.block(x, edge_index))


def test_without_convolutions_what_takes_edges_innermost(data):
    assert names(ByHand(), data) == ["block.one", "block.two"]


def test_without_either_what_has_a_matrix(data):
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lins = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(2))
            self.norm = torch.nn.LayerNorm(16)

        def forward(self, x, edge_index):
            for lin in self.lins:
                x = self.norm(lin(x)).relu()
            return x

    assert names(Plain(), data) == ["lins.0", "lins.1"]


def test_a_user_may_name_them(data):
    model = ByHand()
    assert names(model, data, names=["block", "head"]) == ["block", "head"]
    assert names(GCN(16, 8, 3, 3), data, names=["convs"]) == convs(3)
    with pytest.raises(ModelError, match="no part 'blok', did you mean 'block'"):
        names(model, data, names=["blok"])


def test_a_model_without_parts(data):
    class Identity(torch.nn.Module):
        def forward(self, x, edge_index):
            return x

    with pytest.raises(ModelError, match="no part of Identity returns features of shape"):
        names(Identity(), data)


def test_the_hooks_are_gone(data):
    model = GCN(16, 8, 2, 3)
    names(model, data)
    for part in model.modules():
        assert not part._forward_hooks


def test_features_are_the_first_float_matrix_of_all_nodes():
    x = torch.rand(4, 2)
    assert find_features((torch.ones(2, 4).long(), [torch.rand(3, 2), {"h": x}]), 4) is x
    assert find_features((x.to_sparse_csr(), None, "x", torch.rand(4)), 4) is None


def test_a_wrapped_model_shows_its_convolutions(data):
    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.conv = GCN(16, 8, 2), GCNConv(8, 3)

        def forward(self, x, edge_index):
            return self.conv(self.encoder(x, edge_index), edge_index)

    assert names(Wrapped(), data) == ["encoder.convs.0", "encoder.convs.1", "conv"]
