import copy
import pickle

import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close
from zoo import ZOO

from graphsct import ModelError
from graphsct.nn import GCNConv, control_convolutions
from graphsct.nn.wrap import ControlledConv


class Net(torch.nn.Module):
    """Two hidden convolutions, perhaps in another order than they are called, and an output."""

    def __init__(self, widths=(4, 4), swapped=False, output=2):
        super().__init__()
        if swapped:
            self.second = pyg.SAGEConv(widths[0], widths[1])
        self.first = pyg.SAGEConv(3, widths[0])
        if not swapped:
            self.second = pyg.SAGEConv(widths[0], widths[1])
        self.last = pyg.GCNConv(widths[1], output)

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).relu()
        return self.last(self.second(x, edge_index).relu(), edge_index)


@pytest.fixture(autouse=True)
def _seed(seed):
    pass


@pytest.fixture
def edges():
    return ZOO["many_components"].inputs()[0]


def shaken(model):
    for name, weight in model.named_parameters():
        if "control" in name:
            torch.nn.init.normal_(weight)
    return model.eval()


@pytest.mark.parametrize("control", ["pooled", "gated", "gated_full", "bias"])
def test_hidden_convolutions_get_control_and_the_output_does_not(edges, control):
    model, x = Net().eval(), torch.randn(9, 3)
    before = model(x, edges)
    assert control_convolutions(model, control, num_components=3, num_outputs=2) is model
    assert [type(part) for part in model.children()] == [
        ControlledConv,
        ControlledConv,
        pyg.GCNConv,
    ]
    assert_close(model(x, edges), before)
    assert not torch.allclose(shaken(model)(x, edges), before)


def test_without_a_number_of_outputs_all_are_hidden():
    model = control_convolutions(Net(), "pooled", num_components=3)
    assert isinstance(model.last, ControlledConv)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_initial_features_are_those_of_the_first_call(edges, swapped):
    model = shaken(control_convolutions(Net(swapped=swapped), "gated", num_outputs=2))
    x = torch.randn(9, 3)
    x_0 = model.first.conv(x, edges)
    h = model.first(x, edges, x_0=x_0).relu()
    expected = model.last(model.second(h, edges, x_0=x_0).relu(), edges)
    assert_close(model(x, edges), expected)
    assert_close(model(x, edges), expected)  # nothing is left of the first call


def test_nothing_is_left_after_a_call_that_failed(edges):
    model = shaken(control_convolutions(Net(), "gated", num_outputs=2))
    x = torch.randn(9, 3)
    expected = model(x, edges)
    hook = model.second.register_forward_pre_hook(lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model(x + 1, edges)
    hook.remove()
    assert_close(model(x, edges), expected)


def test_copies_are_on_their_own(edges):
    model, x = shaken(control_convolutions(Net(), "gated", num_outputs=2)), torch.randn(9, 3)
    model.train()(x, edges).sum().backward()
    expected = model(x, edges)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_close(twin(x, edges), expected)
        assert twin.first._initial is twin.second._initial
        assert twin.first._initial is not model.first._initial


def test_a_convolution_in_two_places_gets_one_control(edges):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = torch.nn.ModuleList([pyg.GCNConv(3, 3)] * 2)

        def forward(self, x, edge_index):
            return self.convs[1](self.convs[0](x, edge_index), edge_index)

    model = control_convolutions(Tied(), "pooled", num_components=3)
    assert model.convs[0] is model.convs[1]
    assert isinstance(model.convs[0], ControlledConv)


def test_convolutions_of_ours_get_control_as_well(edges):
    model = torch.nn.ModuleDict({"conv": GCNConv(3, 4)})
    control_convolutions(model, "pooled", num_components=3)
    assert model["conv"].control.channels == 4


def test_layers_below_the_first_stay_as_they_are():
    model = pyg.models.GCN(5, 6, num_layers=6, out_channels=2)
    control_convolutions(model, "normalized", num_outputs=2)
    names = [type(conv).__name__ for conv in model.convs]
    assert names == ["GCNConv"] * 4 + ["ControlledConv", "GCNConv"]


def test_models_that_cannot_get_control():
    with pytest.raises(ModelError, match="of one width, but those of Net have 4, 5 channels"):
        control_convolutions(Net(widths=(4, 5)), "gated", num_outputs=2)
    control_convolutions(Net(widths=(4, 5)), "pooled", num_components=3)
    for model in (
        torch.nn.Linear(3, 2),
        pyg.Sequential("x, e", [(pyg.APPNP(2, 0.1), "x, e -> x")]),
    ):
        with pytest.raises(
            ModelError, match="has no hidden convolution that could get control='ga"
        ):
            control_convolutions(model, "gated")
    with pytest.raises(ModelError, match="no control 'gatted', did you mean 'gated'"):
        control_convolutions(Net(), "gatted")
