import copy

import pytest
import torch
from torch_geometric.nn import GCN, GCNConv

from graphsct import Graph, diagnose, nn
from graphsct.diagnosis import find_cause
from graphsct.errors import ModelError

pytestmark = pytest.mark.usefixtures("seed")


class Smoothed(torch.nn.Module):
    """Two layers with nothing but smooth features between them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(16, 16), GCNConv(16, 3)

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).relu()
        if edge_index.numel():
            x = Graph(edge_index, num_nodes=len(x)).project(x)
        return self.second(x, edge_index)


class Weak(torch.nn.Module):
    """Layers whose weights start far too small."""

    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList(Small(16, 16) for _ in range(8))
        self.output = torch.nn.Linear(16, 3)

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.output(x)


class Small(GCNConv):
    def reset_parameters(self):
        super().reset_parameters()
        self.lin.weight.data.mul_(0.001)


def cause(model, data, **options):
    found = diagnose(model, data, reach=False)
    return find_cause(found, model, data, **options).cause


def test_over_smoothing_is_cured_by_taking_the_edges_away(data):
    found = cause(Smoothed(), data)
    assert found.name == "over-smoothing"
    skills = {one.name: one.skill for one in found.experiments}
    assert skills["no edges"] > 0.9
    assert skills["started anew"] < 0.5


def test_a_weak_signal_is_not(data):
    found = cause(Weak(), data)
    assert found.name == "weak signal"
    skills = {one.name: one.skill for one in found.experiments}
    assert skills["identity start"] > 0.7 > skills["no edges"]


def test_an_untrained_model_needs_training(data):
    assert cause(nn.GCN(16, 16, 3, 2), data).name == "training"


def test_the_model_stays_as_it_is(data):
    model = GCN(16, 16, 3, 3)
    before = copy.deepcopy(model.state_dict())
    cause(model, data, epochs=2)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not any(part._forward_hooks for part in model.modules())


def test_it_needs_labels(data):
    bare = copy.copy(data)
    bare.y = None
    model = GCN(16, 16, 2, 3)
    with pytest.raises(ModelError, match="needs labels y and masks"):
        find_cause(diagnose(model, bare), model, bare)
