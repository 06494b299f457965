import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close

from graphsct.graph import kernels


def random(*shape, seed=0, **kwargs):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator, **kwargs)


def test_column_norm_and_inner_are_the_dense_ones(monkeypatch):
    x, y = random(50, 3, requires_grad=True), random(50, 3, seed=1, requires_grad=True)
    for block in (1, 16, 1 << 20):  # one row at a time, several blocks with a rest, one block
        monkeypatch.setattr(kernels, "_BLOCK_ELEMENTS", block)
        assert_close(kernels.column_norm(x), x.norm(dim=0))
        assert_close(kernels.inner(x, y), (x * y).sum())
    assert gradcheck(kernels.column_norm, x)
    assert gradgradcheck(kernels.column_norm, x)
    assert gradcheck(kernels.inner, (x, y))
    assert gradgradcheck(kernels.inner, (x, y))


def test_column_norm_of_zeros_has_a_zero_gradient():
    x = torch.zeros(4, 2, requires_grad=True)
    kernels.column_norm(x).sum().backward()
    assert x.grad.equal(torch.zeros(4, 2))


def test_column_norm_does_not_leave_the_range_of_floats():
    x = torch.tensor([[3e-30, 3e30, 0.0, 3.0], [4e-30, 4e30, 0.0, 4.0]])
    assert_close(kernels.column_norm(x), torch.tensor([5e-30, 5e30, 0.0, 5.0]), rtol=1e-6, atol=0.0)


def test_column_norm_passes_on_what_is_not_finite():
    norm = kernels.column_norm(torch.tensor([[torch.nan, torch.inf, 1.0]]))
    assert norm.isnan().tolist() == [True, True, False] or norm[1] == torch.inf
    assert not norm[:2].isfinite().any()
