import pytest
import torch

from graphsct.smoothness import over_correlation


def features(*columns):
    return torch.tensor(columns, dtype=torch.float64).t()


def test_known_correlations():
    a, b = [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]
    assert over_correlation(features(a, b)).item() == pytest.approx(0)
    assert over_correlation(features(a, a)).item() == pytest.approx(1)
    assert over_correlation(features(a, [-2 * value + 3 for value in a])).item() == pytest.approx(1)
    assert over_correlation(features(a, a, b)).item() == pytest.approx(1 / 3)


def test_dimensions_that_do_not_vary_are_left_out():
    a, b = [1.0, 2.0, 4.0], [0.0, 5.0, 1.0]
    expected = over_correlation(features(a, b)).item()
    x = features(a, b, [0.1, 0.1, 0.1], [0.0, 0.0, 0.0]).requires_grad_()
    found = over_correlation(x)
    assert found.item() == pytest.approx(expected)
    found.backward()
    assert x.grad.isfinite().all()
    assert over_correlation(features(a, [0.1, 0.1, 0.1])) == 0


def test_constants_and_small_variations_of_a_million_nodes_are_told_apart():
    constant = torch.tensor([[1.3, 0.7, 2.9]]).expand(1_000_000, 3)
    assert over_correlation(constant) == 0
    step = 1e-5 * (torch.arange(1_000_000) % 2).unsqueeze(1)
    assert over_correlation(constant[:, :2] + step) > 0.99
