import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from graphsct import smoothness


def test_effective_rank_of_known_matrices():
    eye = torch.eye(5, 3, dtype=torch.float64)
    assert_close(smoothness.effective_rank(eye), torch.tensor(3.0).double())
    assert_close(smoothness.effective_rank(1e-200 * eye), torch.tensor(3.0).double())
    assert_close(smoothness.effective_rank(torch.ones(9, 4)), torch.tensor(1.0))
    assert smoothness.effective_rank(torch.zeros(4, 2)) == 0
    assert smoothness.effective_rank(torch.ones(4, 0)) == 0
    values = torch.tensor([3.0, 1.0], dtype=torch.float64)
    expected = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert smoothness.effective_rank(values.diag()).item() == pytest.approx(expected)


def test_numerical_rank_of_known_matrices():
    eye = torch.eye(5, 3, dtype=torch.float64)
    assert_close(smoothness.numerical_rank(1e-200 * eye), torch.tensor(3.0).double())
    assert_close(smoothness.numerical_rank(torch.ones(9, 4)), torch.tensor(1.0))
    assert smoothness.numerical_rank(torch.tensor([3.0, 1.0]).diag()).item() == pytest.approx(
        10 / 9
    )


def test_one_large_direction_hides_the_others_from_the_numerical_rank_first():
    x = torch.tensor([10.0, 1.0, 1.0, 1.0]).diag()
    assert smoothness.numerical_rank(x) < 1.04
    assert smoothness.effective_rank(x) > 2.2


def test_effective_rank_gradient():
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert gradcheck(smoothness.effective_rank, x.requires_grad_())
    low_rank = torch.ones(6, 3, dtype=torch.float64, requires_grad=True)
    smoothness.effective_rank(low_rank).backward()
    assert low_rank.grad.isfinite().all()
