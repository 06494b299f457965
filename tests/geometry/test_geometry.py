import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError, UnreachableError, geometry
from graphsct.geometry.components import Components
from graphsct.smoothness import normalized_smoothness

ACTIVATIONS = {**geometry.ACTIVATIONS, "steep": nn.LeakyReLU(0.6), "elu_half": nn.ELU(0.5)}


def achieved(z, graph, alpha, activation):
    return normalized_smoothness(activation(z - graph.unpool(alpha)), graph)


def component_smoothness(h, dense, component):
    """Normalized smoothness of one component alone, by the dense formula."""
    inside = dense.component == component
    e = dense.Q[inside, component]
    norm = h[inside].norm(dim=0)
    return torch.where(norm > 0, (e @ h[inside]).abs() / norm, 1.0)


def scan(z, dense, activation):
    """Smallest and largest smoothness of each component over a fine scan of alpha, (m, d)."""

    def over(alpha, i, k):
        return component_smoothness(activation(z[:, [k]] - alpha * dense.Q[:, [i]]), dense, i)

    lower, upper = z.new_zeros(dense.m, z.shape[1]), z.new_zeros(dense.m, z.shape[1])
    for i in range(dense.m):
        for k in range(z.shape[1]):
            alpha = torch.linspace(-60, 60, 6001, dtype=torch.float64)
            s = over(alpha, i, k)
            around = alpha[s.argmin()] + torch.linspace(-0.05, 0.05, 6001, dtype=torch.float64)
            lower[i, k], upper[i, k] = over(around, i, k).min(), s.max()
    return lower, upper


@pytest.mark.parametrize("slope", [0.0, 0.01, 0.3, 0.99])
def test_output_lies_on_the_sphere(slope, graph, dense, x):
    found = geometry.sphere(x, graph, slope)
    h = nn.functional.leaky_relu(x, slope)
    rough = h - dense.P @ h
    assert_close(found.center, (1 + slope) / 2 * (x - dense.P @ x), rtol=1e-9, atol=1e-12)
    assert_close(torch.linalg.norm(rough - found.center), found.radius, rtol=1e-7, atol=1e-7)
    assert found.residual < 1e-7


def test_sphere_is_differentiable():
    graph = ZOO["path"].graph()
    z = torch.linspace(-1, 0.9, 7, dtype=torch.float64).unsqueeze(1).requires_grad_()
    assert gradcheck(lambda z: geometry.sphere(z, graph, 0.1).radius, z)
    assert gradcheck(lambda z: geometry.sphere(z, graph, 0.1).center, z)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_range_is_what_a_fine_scan_finds(name, graph, dense, x):
    found = geometry.smoothness_range(x, graph, ACTIVATIONS[name])
    assert found.lower.shape == found.upper.shape == (dense.m, 3)
    lower, upper = scan(x, dense, ACTIVATIONS[name])
    assert (lower >= found.lower - 1e-9).all()
    assert (upper <= found.upper + 1e-9).all()
    assert_close(lower, found.lower, rtol=0, atol=0.03)
    assert_close(upper, found.upper, rtol=0, atol=0.03)


@pytest.mark.parametrize("name", ["elu", "selu", "elu_half"])
def test_elu_bends_a_smooth_input_by_no_more_than_its_limit(name, graph, dense):
    smooth = graph.unpool(torch.ones(graph.num_components, 1, dtype=torch.float64))
    found = geometry.smoothness_range(smooth, graph, ACTIVATIONS[name])
    lower, _ = scan(smooth, dense, ACTIVATIONS[name])
    assert (lower >= found.lower - 1e-9).all()
    assert_close(lower, found.lower, rtol=0, atol=2e-3)
    assert (found.lower_attained == (found.lower == 1)).all()


def test_relu_attains_its_minimum_between_its_two_largest_values(graph, x):
    found = geometry.smoothness_range(x, graph)
    alpha = geometry.solve_alpha(x, graph, found.lower)
    h = (x - graph.unpool(alpha)).relu()
    rough = found.lower < 1
    parts = Components(h, graph)
    s = parts.mean / (parts.mean.square() + parts.deviation.square()).sqrt()
    assert_close(s[rough], found.lower[rough], rtol=1e-12, atol=1e-12)


def test_relu_reaches_one_by_dying_and_leaky_relu_does_not():
    graph = ZOO["path"].graph()
    z = torch.arange(7.0, dtype=torch.float64).unsqueeze(1)
    alpha = geometry.solve_alpha(z, graph, 1.0)
    assert achieved(z, graph, alpha, nn.ReLU()) == 1
    assert not (z - graph.unpool(alpha)).relu().any()
    for name in ("leaky_relu", "identity", "elu", "selu"):
        with pytest.raises(UnreachableError, match=r"reaches \[0, 1\)"):
            geometry.solve_alpha(z, graph, 1.0, name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_relu_dies_exactly_whatever_the_rounding(dtype, scale, case):
    graph = case.graph(dtype)
    z = scale * torch.randn(graph.num_nodes, 200, dtype=dtype)
    h = (z - graph.unpool(geometry.solve_alpha(z, graph, 1.0))).relu()
    constant = Components(z, graph).constant[graph.component]
    assert not h[~constant].any()
    assert (normalized_smoothness(h, graph) > 1 - 1e-6).all()


def test_a_smooth_input_is_left_alone_when_it_should_be_smooth(graph):
    smooth = graph.unpool(torch.ones(graph.num_components, 2, dtype=torch.float64))
    for name in geometry.ACTIVATIONS:
        assert not geometry.solve_alpha(smooth, graph, 1.0, name).any()


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_alpha_gives_the_whole_its_target(name, scale, case, graph):
    """A thousand random cases and more over the zoo: 60 dimensions on each of these."""
    z = scale * torch.randn(graph.num_nodes, 60, dtype=torch.float64)
    lower = geometry.smoothness_range(z, graph, ACTIVATIONS[name]).lower.amin(0)
    target = lower + (1 - lower) * torch.rand(60, dtype=torch.float64)
    alpha = geometry.solve_alpha(z, graph, target, ACTIVATIONS[name])
    assert alpha.shape == (graph.num_components, 60)
    assert_close(achieved(z, graph, alpha, ACTIVATIONS[name]), target, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_alpha_gives_each_component_its_own_target(name, graph, dense):
    z = torch.randn(graph.num_nodes, 40, dtype=torch.float64)
    found = geometry.smoothness_range(z, graph, ACTIVATIONS[name])
    target = found.lower + (1 - found.lower) * 0.9 * torch.rand_like(found.lower) + 1e-9
    target = target.clamp_max(1)
    alpha = geometry.solve_alpha(z, graph, target, ACTIVATIONS[name])
    h = ACTIVATIONS[name](z - graph.unpool(alpha))
    for i in range(dense.m):
        assert_close(component_smoothness(h, dense, i), target[i], rtol=0, atol=1e-7)


@given(
    seed=st.integers(0, 2**31),
    nodes=st.integers(2, 60),
    rounding=st.sampled_from([None, 0, 1]),
    offset=st.sampled_from([0.0, 1.0, 1e4]),
    share=st.floats(0, 0.9999),
    name=st.sampled_from(sorted(ACTIVATIONS)),
)
def test_alpha_on_random_graphs_with_ties_offsets_and_many_components(
    seed, nodes, rounding, offset, share, name
):
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randint(nodes, (2, nodes), generator=generator)
    graph = Graph(edges, nodes, symmetrize=True, dtype=torch.float64)
    z = torch.randn(nodes, 3, dtype=torch.float64, generator=generator)
    z = offset + (z if rounding is None else z.round(decimals=rounding))
    lower = geometry.smoothness_range(z, graph, ACTIVATIONS[name]).lower.amin(0)
    target = lower + (1 - lower) * share
    alpha = geometry.solve_alpha(z, graph, target, ACTIVATIONS[name])
    assert_close(achieved(z, graph, alpha, ACTIVATIONS[name]), target, rtol=0, atol=1e-6)


def test_alpha_in_float32_is_as_good_as_float32():
    graph = ZOO["many_components"].graph(torch.float32)
    z = torch.randn(9, 50)
    alpha = geometry.solve_alpha(z, graph, 0.9)
    assert alpha.dtype == torch.float32
    assert_close(achieved(z, graph, alpha, nn.ReLU()), torch.full((50,), 0.9), rtol=0, atol=1e-4)


def test_a_component_that_cannot_follow_is_made_zero():
    graph = ZOO["isolated_nodes"].graph()
    z = torch.randn(7, 5, dtype=torch.float64)
    for activation in ACTIVATIONS.values():
        alpha = geometry.solve_alpha(z, graph, 0.9, activation)
        h = activation(z - graph.unpool(alpha))
        assert h[[1, 3, 6]].abs().max() <= (0 if isinstance(activation, nn.ReLU) else 1e-12)
        assert h[[0, 2, 4, 5]].abs().max() > 1e-3


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (0.1, r"component 0 the smoothness 0.1; it reaches \[0.32\d*, 1\]"),
        (-0.5, r"target is -0.5; normalized smoothness lies in \[0, 1\]"),
        (float("nan"), "target is nan"),
        (torch.tensor([0.5, 2.0]), "target is 2.0"),
    ],
)
def test_unreachable_targets_are_told_what_can_be_reached(target, message):
    z = torch.arange(14.0, dtype=torch.float64).reshape(7, 2)
    with pytest.raises(UnreachableError, match=message):
        geometry.solve_alpha(z, ZOO["path"].graph(), target)


def test_a_target_for_an_isolated_node_alone_is_unreachable():
    graph = ZOO["isolated_nodes"].graph()
    z = torch.randn(7, 1, dtype=torch.float64)
    with pytest.raises(UnreachableError, match=r"in component 1 .* reaches \[1, 1\]"):
        geometry.solve_alpha(z, graph, torch.full((4, 1), 0.9, dtype=torch.float64))
    with pytest.raises(UnreachableError, match=r"reaches \[1, 1\]"):
        geometry.solve_alpha(torch.ones(1, 1), ZOO["one_node"].graph(torch.float32), 0.5)


def test_bad_input_is_named():
    graph = ZOO["path"].graph()
    z = torch.ones(7, 2, dtype=torch.float64)
    with pytest.raises(GraphError, match=r"negative_slope is 1\.5"):
        geometry.sphere(z, graph, 1.5)
    with pytest.raises(GraphError, match="activation is 'gelu', expected one of relu, leaky_relu"):
        geometry.smoothness_range(z, graph, "gelu")
    for unknown in (nn.Tanh(), nn.LeakyReLU(-0.1), nn.ELU(-1.0)):
        with pytest.raises(GraphError, match="is not known; expected ReLU"):
            geometry.solve_alpha(z, graph, 0.5, unknown)
    with pytest.raises(GraphError, match=r"target has shape \(3,\), expected a number, \(2,\) or"):
        geometry.solve_alpha(z, graph, torch.ones(3))
    with pytest.raises(GraphError, match="overflow float64"):
        geometry.smoothness_range(z * 1e200, graph)
    z[4, 1] = torch.nan
    for function in (geometry.sphere, geometry.smoothness_range):
        with pytest.raises(GraphError, match=r"z\[4, 1\] is nan"):
            function(z, graph)
    with pytest.raises(GraphError, match="7 rows but the graph has 2 nodes"):
        geometry.solve_alpha(z, ZOO["two_nodes"].graph(), 0.5)
