import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shifts import ACTIVATIONS, achieved, component_smoothness
from torch import nn
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError, UnreachableError, geometry
from graphsct.geometry.components import Components
from graphsct.smoothness import normalized_smoothness


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


@pytest.mark.parametrize("ratio", [1e12, 1e18])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_light_components_reach_their_target_beside_heavy_ones(name, ratio):
    edges = torch.tensor([[0, 1, 3, 4, 6], [1, 2, 4, 5, 7]])
    weight = torch.tensor([ratio, ratio, 1.0, 1.0, 1.0], dtype=torch.float64)
    graph = Graph(edges, 8, weight, symmetrize=True)
    z = torch.randn(8, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    target = torch.full((3, 50), 0.9, dtype=torch.float64)
    alpha = geometry.solve_alpha(z, graph, target, ACTIVATIONS[name])
    h = ACTIVATIONS[name](z - graph.unpool(alpha))
    for nodes in ([0, 1, 2], [3, 4, 5], [6, 7]):
        found = (graph.basis[nodes] @ h[nodes]).abs() / h[nodes].norm(dim=0)
        assert_close(found, target[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["elu", "selu"])
@pytest.mark.parametrize("size", [1.0, 1e3, -1e3])
def test_a_large_smooth_input_is_bent_as_far_as_it_should_be(name, size):
    graph = ZOO["star"].graph(torch.float32)
    z = graph.unpool(torch.full((1, 1), size))
    lower = geometry.smoothness_range(z, graph, name).lower[0]
    for share in (0.001, 0.5, 0.999):
        target = lower + share * (1 - lower)
        alpha = geometry.solve_alpha(z, graph, target, name)
        assert_close(achieved(z, graph, alpha, ACTIVATIONS[name]), target, rtol=0, atol=1e-4)


@pytest.mark.parametrize("shape", [(), (1, 1)])
def test_a_target_that_rounding_does_not_let_it_reach_is_refused(shape):
    graph = ZOO["star"].graph(torch.float32)
    z = graph.unpool(torch.full((1, 1), 1e7))
    with pytest.raises(UnreachableError, match=r"gives the smoothness \S+ instead of 0.98\d*, by"):
        geometry.solve_alpha(z, graph, torch.full(shape, 0.98), "elu")


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


@pytest.mark.parametrize("target", [None, "0.9", {}, torch.ones((), device="meta")])
def test_a_target_that_is_no_number_is_named(target):
    graph = Graph([[0, 1], [1, 0]])
    with pytest.raises(GraphError, match=r"target is .*, expected a number or a tensor"):
        geometry.solve_alpha(torch.tensor([[1.0], [2.0]]), graph, target)
