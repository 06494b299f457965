import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close
from zoo import ZOO

from graphsct import smoothness

WITH_GRAPH = [f for f, _ in smoothness.MEASURES.values() if f is not smoothness.effective_rank]


@pytest.mark.parametrize("measure", WITH_GRAPH)
def test_value_is_the_dense_one(measure, graph, dense, x):
    expected = getattr(dense, measure.__name__)(x)
    assert_close(measure(x, graph), expected, rtol=1e-10, atol=1e-12)
    assert_close(measure(x.float(), graph.float()), expected.float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("measure", WITH_GRAPH)
def test_gradients(measure, graph, dense, x):
    if measure is smoothness.distance_to_eigenspace and not len(dense.outside):
        pytest.skip("a norm has no derivative at zero, and here everything is smooth")
    x.requires_grad_()
    assert gradcheck(lambda x: measure(x, graph), x)
    assert gradgradcheck(lambda x: measure(x, graph), x)
    (ours,) = torch.autograd.grad(measure(x, graph).sum(), x)
    (theirs,) = torch.autograd.grad(getattr(dense, measure.__name__)(x).sum(), x)
    assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


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
    for measure in (smoothness.normalized_smoothness, smoothness.normalized_dirichlet_energy):
        assert_close(measure(scale * x, graph), measure(x, graph), rtol=1e-4, atol=1e-6)
