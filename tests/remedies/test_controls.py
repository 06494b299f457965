import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.datasets import csbm
from graphsct.nn import APPNP, GCN
from graphsct.remedies import REMEDIES
from graphsct.smoothness import normalized_smoothness


@pytest.fixture(scope="module")
def parts():
    return csbm(60, 120, num_components=3, num_features=5, seed=0)


@pytest.mark.parametrize("name", ["sct_pooled", "sct_gated", "bias"])
@pytest.mark.parametrize("kind", ["ours", "theirs"])
def test_the_term_lies_in_the_eigenspace_unless_it_is_a_bias(parts, name, kind):
    torch.manual_seed(0)
    sizes = parts.num_features, 6
    model = GCN(*sizes, 2, num_layers=3) if kind == "ours" else pyg.GCN(*sizes, 3, 2)
    model = REMEDIES[name].apply(model.double(), parts)
    conv, graph = model.convs[0], parts.graph.double()
    for weight in conv.control.parameters():
        torch.nn.init.normal_(weight)
    x = torch.randn(60, 6 if kind == "ours" else 5).double()
    more = {"x_0": torch.randn(60, 6).double()}
    controlled = conv(x, graph, **more)
    control, conv.control = conv.control, None if kind == "ours" else _Nothing()
    term = controlled - conv(x, graph, **more)
    assert term.norm() > 0
    inside = (graph.project(term) - term).norm() < 1e-9
    assert bool(inside) == (name != "bias")
    if name == "bias":
        assert_close(term, control.coefficients.bias.expand(60, 6))


class _Nothing(torch.nn.Module):
    def forward(self, out, graph, x_0):
        return torch.zeros_like(out)


def test_what_is_missing_is_named(parts):
    with pytest.raises(ModelError, match=r"one weight for each component.*pass data="):
        REMEDIES["sct_pooled"].apply(GCN(5, 6, 2, num_layers=2))
    with pytest.raises(ModelError, match="APPNP has no convolutions that take a control"):
        REMEDIES["sct_gated"].apply(APPNP(5, 6, 2, num_layers=2))


def test_theta_is_the_number():
    model = REMEDIES["sct_gated"].apply(GCN(5, 6, 2, num_layers=2), value=0.1)
    betas = [conv.control.coefficients.beta for conv in model.convs]
    assert betas == pytest.approx([0.09531, 0.04879], abs=1e-5)


@pytest.mark.parametrize("kind", ["ours", "theirs"])
@pytest.mark.parametrize("name", ["normalized", "target"])
def test_every_layer_has_the_size_or_the_smoothness_of_the_number(parts, name, kind):
    torch.manual_seed(0)
    sizes = parts.num_features, 6
    model = GCN(*sizes, 2, num_layers=6) if kind == "ours" else pyg.GCN(*sizes, 6, 2)
    model = REMEDIES[name].apply(model.double(), parts, 0.7)
    conv, graph = model.convs[4], parts.graph.double()
    out = conv(torch.randn(60, 6).double(), graph)
    if name == "normalized":
        assert_close(graph.project(out).square().mean(0).sqrt(), torch.full((6,), 0.7).double())
    else:
        smoothness = normalized_smoothness(out.relu(), graph)
        assert_close(smoothness, torch.full((6,), 0.7).double())


@pytest.mark.parametrize("model", [GCN(5, 6, 2, num_layers=4), pyg.GCN(5, 6, 4, 2)])
def test_a_control_that_begins_late_needs_as_many_layers(parts, model):
    with pytest.raises(
        ModelError, match=r"later layer than the model's last one.*\{\"first\": 1\}"
    ):
        REMEDIES["normalized"].apply(model, parts)


def test_the_wanted_smoothness_is_that_behind_the_model_s_own_activation(parts):
    model = REMEDIES["target"].apply(GCN(5, 6, 2, num_layers=2, activation="elu").double())
    _, layers = model(parts.x.double(), parts.graph.double(), return_layers=True)
    for h in layers[1:]:
        smoothness = normalized_smoothness(h, parts.graph.double())
        assert_close(smoothness, torch.full((6,), 0.8).double())
