import torch
import torch_geometric.nn as pyg

from graphsct.nn import add_control
from graphsct.nn.hidden_convolutions import (
    find_convolutions,
    hidden_convolutions,
    replace_parts,
)


def make():
    inner = torch.nn.Sequential(pyg.GATConv(4, 2, heads=3), torch.nn.ReLU())
    return torch.nn.ModuleList([pyg.GCNConv(3, 4), inner, pyg.SAGEConv(6, 5)])


def test_they_come_in_the_order_of_the_parts_with_their_widths():
    found = [(type(conv).__name__, width) for conv, width in find_convolutions(make())]
    assert found == [("GCNConv", 4), ("GATConv", 6), ("SAGEConv", 5)]


def test_the_last_one_is_the_output_layer_if_its_width_says_so():
    assert list(hidden_convolutions(make(), 5).values()) == [4, 6]
    assert list(hidden_convolutions(make(), 7).values()) == [4, 6, 5]
    assert list(hidden_convolutions(make(), None).values()) == [4, 6, 5]
    assert hidden_convolutions(torch.nn.Sequential(torch.nn.Linear(3, 3)), 3) == {}


def test_parts_are_replaced_wherever_they_stand():
    model = make()
    model.append(model[0])
    conv, replaced = model[0], torch.nn.Identity()
    replace_parts(model, {conv: replaced, model[1][0]: replaced})
    assert model[0] is model[3] is model[1][0] is replaced


def test_controlled_convolutions_are_left_alone():
    model = torch.nn.ModuleList([add_control(pyg.GCNConv(3, 4), "bias"), pyg.GCNConv(4, 4)])
    assert [conv for conv, _ in find_convolutions(model)] == [model[1]]
