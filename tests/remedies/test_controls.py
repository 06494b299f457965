import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.datasets import csbm
from graphsct.nn import APPNP, GCN
from graphsct.remedies import REMEDIES


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
