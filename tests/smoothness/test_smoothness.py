import inspect

import numpy as np
import pytest
import torch
from oracle import Exact
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close
from zoo import ZOO, long_graph

from graphsct import Graph, smoothness

MEASURES = sorted(set(smoothness.MEASURES) - {"group_distance_ratio"})  # it needs classes


def pair(name, graph, dense):
    """A measure and its dense twin, as functions of features."""
    function, _ = smoothness.MEASURES[name]
    with_graph = "graph" in inspect.signature(function).parameters
    twin, _, option = name.rstrip(")").partition("(")
    options = [option] if option else []
    return (
        lambda x: function(x, graph.to(x.dtype)) if with_graph else function(x),
        lambda x: getattr(dense, twin)(x, *options),
    )


@pytest.mark.parametrize("name", MEASURES)
def test_value_is_the_dense_one(name, graph, dense, x):
    ours, theirs = pair(name, graph, dense)
    assert_close(ours(x), theirs(x), rtol=1e-10, atol=1e-12)
    assert_close(ours(x.float()), theirs(x).float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", MEASURES)
def test_gradients(name, graph, dense, x):
    if name == "distance_to_eigenspace" and not len(dense.outside):
        pytest.skip("a norm has no derivative at zero, and here everything is smooth")
    ours, theirs = pair(name, graph, dense)
    x.requires_grad_()
    assert gradcheck(ours, x)
    assert gradgradcheck(ours, x)
    (found,) = torch.autograd.grad(ours(x).sum(), x)
    (expected,) = torch.autograd.grad(theirs(x).sum(), x)
    assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_smooth_features_are_seen_as_smooth(graph):
    smooth = graph.unpool(torch.randn(graph.num_components, 2, dtype=torch.float64))
    assert_close(smoothness.normalized_smoothness(smooth, graph), torch.ones(2).double())
    assert smoothness.distance_to_eigenspace(smooth, graph) < 1e-14
    assert smoothness.dirichlet_energy(smooth, graph) < 1e-28
    assert not smoothness.dead_dimensions(smooth).any()


def test_a_small_rough_part_does_not_drown_in_a_large_smooth_part():
    graph = ZOO["connected"].graph(torch.float32)
    rough = torch.zeros(6, 1).index_fill(0, torch.tensor(2), 1.0)
    rough = rough - graph.project(rough)
    x = 1e-4 * rough + 10 * graph.basis.unsqueeze(1)
    expected = 1e-8 * smoothness.dirichlet_energy(rough, graph)
    assert_close(smoothness.dirichlet_energy(x, graph), expected, rtol=0.01, atol=0.0)
    expected = 1e-4 * smoothness.distance_to_eigenspace(rough, graph)
    assert_close(smoothness.distance_to_eigenspace(x, graph), expected, rtol=0.005, atol=0.0)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_normalized_measures_are_free_of_scale_even_in_float32(scale):
    graph = ZOO["many_components"].graph(torch.float32)
    x = torch.randn(graph.num_nodes, 4, generator=torch.Generator().manual_seed(0))
    for name, (measure, axioms) in smoothness.MEASURES.items():
        if smoothness.Axiom.SCALE_INVARIANT in axioms and name != "group_distance_ratio":
            with_graph = "graph" in inspect.signature(measure).parameters
            arguments = [graph] if with_graph else []
            found, expected = measure(scale * x, *arguments), measure(x, *arguments)
            assert_close(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rough", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("kind", ["path", "star", "few_paths", "path_and_pairs"])
@pytest.mark.parametrize("nodes", [1000, 10_000, 100_000, 1_000_000])
def test_measures_of_large_float32_graphs_are_those_of_extended_precision(nodes, kind, rough):
    edges, component = long_graph(kind, nodes)
    graph = Graph(torch.from_numpy(edges), nodes, symmetrize=True, dtype=torch.float32)
    exact, random = Exact(edges, component), np.random.default_rng(0)
    smooth = exact.basis * random.standard_normal((component[-1] + 1, 2))[component]
    other = exact.rough(random.standard_normal((nodes, 2)))
    x = smooth / np.linalg.norm(smooth) + rough * other / np.linalg.norm(other)
    x = torch.from_numpy(x.astype(np.float32))
    size = torch.linalg.vector_norm(x.double()).item()

    found = smoothness.distance_to_eigenspace(x, graph).item()
    assert found == pytest.approx(exact.distance_to_eigenspace(x), rel=1e-6, abs=1e-6 * size)
    found = smoothness.dirichlet_energy(x, graph).item() ** 0.5
    assert found == pytest.approx(exact.dirichlet_energy(x) ** 0.5, rel=1e-4, abs=1e-6 * size)
    assert_close(
        smoothness.normalized_smoothness(x, graph).numpy(),
        exact.normalized_smoothness(x).astype(np.float32),
        rtol=0,
        atol=1e-6,
    )
    for name in ("over_correlation", "effective_rank", "numerical_rank"):
        found = getattr(smoothness, name)(x).item()
        assert found == pytest.approx(getattr(exact, name)(x), rel=1e-4, abs=1e-6), name
