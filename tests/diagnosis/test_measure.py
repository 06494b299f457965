import dataclasses

import pytest
import torch

from graphsct import smoothness
from graphsct.diagnosis.measure import Contrast, check_finite, measure
from graphsct.diagnosis.record import Layer
from graphsct.errors import ModelError
from graphsct.geometry import smoothness_range
from graphsct.graph import Graph

pytestmark = pytest.mark.usefixtures("seed")


def layer(x, activation=None, before=None):
    return Layer("convs.0", "GCNConv", x, "output", activation, before)


def test_contrast_is_the_distance_to_the_eigenspace_and_the_constants(case, graph, dense, x):
    members = dense.component[:, None] == torch.arange(dense.m)
    both = torch.cat([dense.Q, members.double()], dim=1)
    u, sigma, _ = torch.linalg.svd(both, full_matrices=False)
    basis = u[:, sigma > 1e-6]
    expected = x - basis @ (basis.T @ x)
    assert torch.allclose(Contrast(graph)(x), expected, atol=1e-9)


def test_contrast_in_single_precision(case, x):
    single = Contrast(case.graph(torch.float32))(x.float())
    assert torch.allclose(single.double(), Contrast(case.graph())(x), atol=1e-4)


def test_numbers_are_those_of_the_measures(graph, x):
    x[:, 1] = 0
    gradient = torch.randn_like(x)
    found = measure(layer(x), gradient, Contrast(graph))
    assert found.dead == (1,)
    s = smoothness.normalized_smoothness(x, graph)
    assert found.smoothness == pytest.approx(s.tolist())
    assert found.quartiles[1] == pytest.approx(s[[0, 2]].mean().item())
    for name in ("dirichlet_energy", "normalized_dirichlet_energy"):
        expected = getattr(smoothness, name)(x, graph).item()
        assert getattr(found, name) == pytest.approx(expected, abs=1e-12)
    distance = smoothness.distance_to_eigenspace(x, graph).item()
    assert found.distance == pytest.approx(distance, abs=1e-12)
    assert found.relative_distance == pytest.approx(distance / x.norm().item(), abs=1e-12)
    assert found.effective_rank == pytest.approx(smoothness.effective_rank(x).item())
    assert found.norm == pytest.approx(x.norm().item())
    assert found.size == pytest.approx(x.square().mean().sqrt().item())
    assert found.gradient_norm == pytest.approx(gradient.norm().item())
    assert 0 <= found.contrast <= found.relative_distance + 1e-12


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_what_is_free_of_scale_is_free_of_scale(scale):
    graph = Graph([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    x = torch.randn(4, 3)
    one = measure(layer(x), None, Contrast(graph))
    other = measure(layer(x * scale), x * scale, Contrast(graph))
    for name in ("relative_distance", "normalized_dirichlet_energy", "effective_rank", "contrast"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-3)
    assert other.norm == pytest.approx(scale * one.norm, rel=1e-5)
    assert other.gradient_norm == pytest.approx(other.norm, rel=1e-5)
    assert one.gradient_norm == 0


def test_features_that_are_all_zero(graph):
    found = measure(layer(torch.zeros(graph.num_nodes, 3).double()), None, Contrast(graph))
    assert found.dead == (0, 1, 2)
    assert found.quartiles is None
    assert found.smoothness == (1, 1, 1)
    assert found.norm == found.contrast == found.effective_rank == found.relative_distance == 0


def test_a_rounding_error_has_no_rank():
    graph = Graph([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    x = graph.degree.sqrt().unsqueeze(1) * torch.tensor([[1.0, 2.0, 0.3]])
    found = measure(layer(x), None, Contrast(graph))
    assert found.contrast < 1e-5
    assert found.contrast_rank == 0


def test_reach_is_that_of_the_component_that_reaches_farthest(graph, x):
    x[:, 2] = -1  # dead behind ReLU
    found = measure(layer(x.relu(), torch.nn.ReLU(), x), None, Contrast(graph))
    expected = smoothness_range(x, graph, "relu")
    assert found.reach.lower == pytest.approx(expected.lower.amin(0).tolist())
    assert set(found.reach.upper) == {1}
    assert all(s >= low - 1e-9 for s, low in zip(found.smoothness, found.reach.lower, strict=True))
    if found.reach.position is not None:
        assert 0 <= found.reach.position <= 1
    assert (
        measure(layer(x.relu(), torch.nn.ReLU(), x), None, Contrast(graph), reach=False).reach
        is None
    )


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_none_name_the_layer(graph, x, bad):
    broken = x.clone()
    broken[0, 0] = bad
    with pytest.raises(ModelError, match=r"features of layer convs.0 \(GCNConv\) hold (nan|inf)"):
        check_finite(layer(broken))
    with pytest.raises(ModelError, match=r"gradient at layer convs\.0"):
        measure(layer(x), broken, Contrast(graph))


def test_plain_values(graph, x):
    found = measure(layer(x.relu(), torch.nn.ReLU(), x), None, Contrast(graph))
    values = found.to_dict()
    assert set(values) == {field.name for field in dataclasses.fields(found)}
    assert values["activation"] == "ReLU()"
    assert len(values["smoothness"]) == values["channels"] == 3


def test_numbers_of_a_large_float32_graph_are_those_of_float64():
    nodes = 300_000
    edges = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    graph = Graph(edges, nodes, symmetrize=True, dtype=torch.float32)
    x = (1 + 1e-4 * torch.randn(nodes, 2, dtype=torch.float64)).float()
    single = measure(layer(x), None, Contrast(graph))
    double = measure(layer(x.double()), None, Contrast(graph.double()))
    for name in ("norm", "size", "distance", "contrast", "effective_rank", "numerical_rank"):
        found, expected = getattr(single, name), getattr(double, name)
        assert found == pytest.approx(expected, rel=1e-4), name
    assert single.correlation == pytest.approx(double.correlation, abs=1e-4)
