import math

import pytest
import torch

from graphsct.smoothness import instance_information_gain


def test_equal_directions_carry_no_information():
    x = torch.rand(6, 1, dtype=torch.float64) @ torch.rand(1, 4, dtype=torch.float64)
    assert instance_information_gain(x).item() == pytest.approx(0, abs=1e-12)


def test_known_directions():
    overlap = math.exp(-2 / 0.8)  # of two orthogonal directions
    found = instance_information_gain(torch.eye(4, dtype=torch.float64)).item()
    assert found == pytest.approx(-math.log2((1 + 3 * overlap) / 4))
    assert found < math.log2(4)


def test_a_second_node_of_each_kind_adds_nothing():
    x = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    once, twice = instance_information_gain(x), instance_information_gain(torch.cat([x, x]))
    assert twice.item() == pytest.approx(once.item())


def test_collapsed_features_have_a_gradient():
    x = torch.ones(4, 2, requires_grad=True)
    instance_information_gain(x).backward()
    assert x.grad.isfinite().all()
