import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from graphsct import smoothness
from graphsct.smoothness.rank import _singular_values


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


@pytest.mark.parametrize("measure", [smoothness.effective_rank, smoothness.numerical_rank])
@pytest.mark.parametrize("weakest", [1, 1e-3, 1e-5])
def test_ranks_of_many_nodes_are_those_of_a_singular_value_decomposition(measure, weakest):
    """They go by the Gram matrix, which squares the values; the rest of the digits must be there,
    even of directions that are near the rounding of float32.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(30_000, 16, generator=generator) + 0.5
    x = x * torch.logspace(0, math.log10(weakest), 16)
    sigma = torch.linalg.svdvals(x.double())
    share = sigma / sigma.sum()
    exact = {
        smoothness.effective_rank: torch.special.entr(share).sum().exp(),
        smoothness.numerical_rank: (sigma.norm() / sigma[0]).square(),
    }
    for shape in (x, x.t()):
        assert_close(measure(shape).double(), exact[measure], rtol=3e-7, atol=0)
    # Rounded to float32, they would hide what the Gram matrix loses by squaring.
    assert_close(_singular_values(x), sigma, rtol=1e-15 / weakest**2 + 1e-13, atol=0)
