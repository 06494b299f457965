import pytest
import torch
from shifts import ACTIVATIONS, component_smoothness
from torch.testing import assert_close

from graphsct import geometry
from graphsct.geometry.components import Components


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
