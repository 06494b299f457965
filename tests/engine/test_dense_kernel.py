"""Products by the second kernel are those of PyTorch, on every processor that has it."""

import pytest
import torch
from torch.testing import assert_close

from graphsct.engine import dense_kernel
from graphsct.engine.dense_kernel import dense_addmm_of


@pytest.fixture
def chosen(monkeypatch):
    """The kernel is chosen for its shapes alone, whoever made the processor."""
    monkeypatch.setattr(dense_kernel, "_is_amd", lambda: True)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    dense_kernel._linear.cache_clear()
    if dense_kernel._linear() is None:
        pytest.skip("this PyTorch has no oneDNN")
    yield
    dense_kernel._linear.cache_clear()


@pytest.mark.parametrize("block", [1 << 20, 33 * 100])  # as a whole, and in blocks with a rest
@pytest.mark.parametrize(("beta", "alpha"), [(0, 1.0), (0, 0.5), (1, -2.0)])
@pytest.mark.parametrize("row", [False, True])
def test_products_are_those_of_torch(chosen, monkeypatch, block, beta, alpha, row):
    monkeypatch.setattr(dense_kernel, "_BLOCK", block)
    x, w = torch.randn(3000, 40), torch.randn(40, 33)
    start = torch.randn(33) if row else torch.randn(3000, 33)
    out = torch.full((3000, 33), torch.nan)
    product = dense_addmm_of(x, w)
    assert product is not torch.addmm
    assert product(start, x, w, beta=beta, alpha=alpha, out=out) is out
    exact = torch.addmm(start.double(), x.double(), w.double(), beta=beta, alpha=alpha)
    assert_close(out.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_a_product_is_zero_where_its_mask_is_not_positive(chosen, monkeypatch, alpha):
    monkeypatch.setattr(dense_kernel, "_BLOCK", 33 * 100)
    x, w, mask = torch.randn(3000, 40), torch.randn(40, 33), torch.randn(3000, 33).relu()
    out = torch.full((3000, 33), torch.nan)
    dense_addmm_of(x, w)(out, x, w, beta=0, alpha=alpha, out=out, mask=mask)
    exact = alpha * x.double() @ w.double() * (mask > 0)
    assert_close(out.double(), exact, rtol=1e-5, atol=1e-4)


def test_gradients_of_weights_are_those_of_torch(chosen):
    x, grad, out = torch.randn(3000, 40), torch.randn(3000, 33), torch.full((40, 33), torch.nan)
    dense_addmm_of(x.t(), grad)(out, x.t(), grad, beta=0, alpha=0.5, out=out)
    assert_close(out.double(), 0.5 * x.double().t() @ grad.double(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("rows", "width", "dtype"),
    [(300, 40, torch.float32), (3000, 16, torch.float32), (3000, 40, torch.float64)],
)
def test_small_narrow_and_double_products_are_left_to_torch(chosen, rows, width, dtype):
    x = torch.randn(rows, width, dtype=dtype)
    assert dense_addmm_of(x, torch.randn(width, width, dtype=dtype)) is torch.addmm


def test_columns_of_a_wider_array_are_left_to_torch(chosen):
    x = torch.randn(3000, 80)[:, :40]
    assert dense_addmm_of(x, torch.randn(40, 33)) is torch.addmm
    assert dense_addmm_of(x.t(), torch.randn(3000, 33)) is torch.addmm
    assert dense_addmm_of(x.contiguous().t(), torch.randn(3000, 80)[:, 40:]) is torch.addmm


@pytest.mark.parametrize("missing", ["processor", "instructions", "kernel"])
def test_without_the_kernel_or_the_processor_torch_does_it(chosen, monkeypatch, missing):
    if missing == "processor":
        monkeypatch.setattr(dense_kernel, "_is_amd", lambda: False)
    elif missing == "instructions":
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    else:
        monkeypatch.delattr(torch.ops, "mkldnn")
        monkeypatch.setattr(torch.ops, "mkldnn", object(), raising=False)
    dense_kernel._linear.cache_clear()
    assert dense_addmm_of(torch.randn(3000, 40), torch.randn(40, 33)) is torch.addmm
