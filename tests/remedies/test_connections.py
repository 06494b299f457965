import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn import APPNP, GCN
from graphsct.nn.jumping import Jumping
from graphsct.remedies import REMEDIES
from graphsct.training import ModelConfig, TrainConfig


@pytest.fixture
def model(seed):
    return pyg.GCN(3, 4, 4, 2, bias=False).double()


def layers(model, dense, x):
    """Products of the hidden convolutions, each from a function of the output of the last."""
    convs = [getattr(conv, "conv", conv) for conv in model.convs]
    return [lambda h, conv=conv: dense.G @ h @ conv.lin.weight.T for conv in convs]


def call(model, x, case):
    edge_index, edge_weight = case.inputs()
    return model(x, edge_index, edge_weight)


def test_residuals_of_a_foreign_model_are_added_before_the_activation(model, case, dense, x):
    REMEDIES["residual"].apply(model)
    first, second, third, last = layers(model, dense, x)
    h = first(x).relu()
    h = (second(h) + h).relu()
    h = (third(h) + h).relu()
    assert_close(call(model, x, case), last(h))


def test_initial_connections_of_a_foreign_model_begin_after_its_first_layer(model, case, dense, x):
    REMEDIES["initial_residual"].apply(model, value=0.5)
    first, second, third, last = layers(model, dense, x)
    initial = first(x)
    h = initial.relu()
    h = (0.5 * second(h) + 0.5 * initial).relu()
    h = (0.5 * third(h) + 0.5 * initial).relu()
    assert_close(call(model, x, case), last(h))
    assert_close(call(model, 2 * x, case), 2 * last(h))  # the first features are forgotten


def test_widths_that_differ_are_refused_and_nothing_is_changed():
    model = torch.nn.Module()
    model.convs = torch.nn.ModuleList([pyg.SAGEConv(3, 8), pyg.SAGEConv(8, 6), pyg.SAGEConv(6, 2)])
    for name, message in (
        ("residual", "no two successive hidden"),
        ("initial_residual", "have 8, 6 channels"),
    ):
        with pytest.raises(ModelError, match=message):
            REMEDIES[name].apply(model)
    assert all(isinstance(conv, pyg.SAGEConv) for conv in model.convs)


@pytest.mark.parametrize("mode", ["cat", "max"])
def test_jumping_gives_ours_a_new_output_layer(mode):
    model = REMEDIES[f"jumping_{mode}"].apply(GCN(3, 8, 2, num_layers=4).double())
    assert isinstance(model.jumping, Jumping)
    assert model.output.weight.shape == (2, 40 if mode == "cat" else 8)
    assert model.output.weight.dtype == torch.float64


def test_identity_mapping_is_gcnii_without_initial_residual(graph, dense, x, data):
    base = ModelConfig(depth=3, hidden=5, dropout=0.0)
    config, _ = REMEDIES["identity_mapping"].configure(base, TrainConfig(), 1.5)
    model = config.build(data).double()
    h = torch.randn(len(x), 5, dtype=torch.float64)
    for layer, conv in enumerate(model.convs, 1):
        beta = torch.tensor(1.5 / layer + 1, dtype=torch.float64).log()
        expected = (1 - beta) * dense.G @ h + beta * dense.G @ h @ conv.weight1
        assert_close(conv(h, torch.ones_like(h), graph), expected)


@pytest.mark.parametrize("name", ["dense", "gradient_gating", "jumping_cat"])
def test_models_without_convolutions_are_refused(name):
    with pytest.raises(ModelError, match="APPNP has no convolutions to connect"):
        REMEDIES[name].apply(APPNP(3, 8, 2, num_layers=4))


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("gcnii", "alpha", 0.5), ("appnp", "alpha", 0.2), ("identity_mapping", "alpha", None)],
)
def test_other_models_get_the_number(name, setting, value):
    model, _ = REMEDIES[name].configure(ModelConfig(depth=8), TrainConfig(), value)
    assert model.depth == 8
    assert getattr(model, setting) == (0.0 if value is None else value)
