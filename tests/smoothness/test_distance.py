import torch
from torch.testing import assert_close

from graphsct.smoothness import distance_to_eigenspace


def test_only_the_rough_part_counts(graph, dense, x):
    shift = graph.unpool(torch.randn(graph.num_components, 3, dtype=torch.float64))
    expected = dense.distance_to_eigenspace(x)
    assert_close(distance_to_eigenspace(x + shift, graph), expected, rtol=1e-12, atol=1e-12)


def test_the_nearest_point_of_the_eigenspace_is_this_far_away(graph, x):
    nearest = graph.project(x)
    assert_close(distance_to_eigenspace(x, graph), (x - nearest).norm(), rtol=1e-12, atol=1e-14)
    for _ in range(5):
        other = graph.unpool(torch.randn(graph.num_components, 3, dtype=torch.float64))
        assert (x - other).norm() >= distance_to_eigenspace(x, graph)
