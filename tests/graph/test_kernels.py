import pytest
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


def test_gram_is_the_dense_one(monkeypatch):
    monkeypatch.setattr(kernels, "_GRAM_ROWS", 16)
    x = random(50, 3, requires_grad=True)
    assert_close(kernels.gram(x, x.dtype), x.t() @ x)
    assert gradcheck(kernels.gram, (x, x.dtype))
    assert gradgradcheck(kernels.gram, (x, x.dtype))
    single = x.detach().float()
    assert kernels.gram(single, single.dtype).dtype == torch.float64
    assert_close(kernels.gram(single, torch.float64), single.double().t() @ single.double())


@pytest.mark.parametrize("terms", [1, 2, 16])
@pytest.mark.parametrize("nodes", [1, 3, 5, 1000])
def test_pooling_in_pieces_is_the_dense_product(terms, nodes, monkeypatch):
    monkeypatch.setattr(kernels, "_TERMS", terms)
    monkeypatch.setattr(kernels, "_BLOCK_TERMS", terms)
    monkeypatch.setattr(kernels, "_PIECE_NODES", max(nodes, terms))
    generator = torch.Generator().manual_seed(0)
    for components in (1, 2, 7, 40):
        component = torch.randint(components, (60,), generator=generator)  # some may be empty
        basis, x = random(60, seed=1), random(60, 3, seed=2, requires_grad=True)
        q = kernels.Membership.build(basis, component, components)
        dense = torch.zeros(60, components).double().scatter(1, component[:, None], basis[:, None])
        assert_close(kernels.pool(q, x), dense.t() @ x)
        assert_close(kernels.unpool(q, dense.t() @ x), dense @ dense.t() @ x)
        assert gradcheck(lambda x, q=q: kernels.pool(q, x), x)


def test_long_sums_are_pooled_without_rounding_errors_that_grow():
    ones = torch.ones(1_000_000)
    for components in (1, 3):
        q = kernels.Membership.build(0.1 * ones, torch.arange(1_000_000) % components, components)
        found = kernels.pool(q, 0.7 * ones.unsqueeze(1)).sum()
        assert_close(found, torch.tensor(70_000.0), rtol=5e-7, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [1, 4])
def test_averages_are_the_dense_product(count, dtype):
    component, shares = torch.arange(30) % count, random(30).to(dtype)
    dense = torch.zeros(count, 30, dtype=dtype)
    dense[component, torch.arange(30)] = shares
    average = kernels.Averaging.build(shares, component, count)
    x = random(7, 30, seed=1).to(dtype)
    for each in (x.t(), x.t().contiguous(), x.t()[:, :0]):
        assert_close(average(each), dense @ each)
    with torch.autocast("cpu", torch.bfloat16):
        assert average(x.t()).dtype is dtype


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


def sparse(rows, columns, seed=0, index=torch.int32, entries=300):
    """A float32 matrix of which many rows are empty."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.stack([torch.randint(s, (entries,), generator=draw) for s in (rows, columns)])
    places = places[:, places[0] % 3 > 0]
    values = torch.randn(places.shape[1], generator=draw)
    coo = torch.sparse_coo_tensor(places, values, (rows, columns), check_invariants=False)
    csr = coo.coalesce().to_sparse_csr()
    starts, places = csr.crow_indices().to(index), csr.col_indices().to(index)
    return torch.sparse_csr_tensor(starts, places, csr.values(), size=csr.shape)


@pytest.mark.parametrize("width", [0, 1, 3, 64])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize(("beta", "alpha"), [(0, 1.0), (0.3, 0.5), (1, -2.0)])
def test_products_in_blocks_are_those_of_torch(monkeypatch, width, index, beta, alpha):
    monkeypatch.setattr(kernels, "_BLOCK_BYTES", 4 * 64 * 7)  # many blocks, the last one short
    matrix, x = sparse(90, 70, index=index), torch.randn(width, 70).t()
    assert kernels.addmm_of(matrix, x) is torch.addmm
    monkeypatch.setattr(kernels, "MANY_NODES", 70)
    product, start = kernels.addmm_of(matrix, x), torch.randn(90, width)
    assert product is not torch.addmm
    expected = torch.addmm(start.double(), matrix.double(), x.double(), beta=beta, alpha=alpha)
    out = torch.full_like(start, torch.nan)
    assert product(start, matrix, x, beta=beta, alpha=alpha, out=out) is out
    assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)
    product(start, matrix, x, beta=beta, alpha=alpha, out=start)  # over what it starts with
    assert start.equal(out)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_products_in_blocks_with_relu(monkeypatch, alpha):
    monkeypatch.setattr(kernels, "_BLOCK_BYTES", 4 * 64 * 7)
    monkeypatch.setattr(kernels, "MANY_NODES", 70)
    matrix, x, out = sparse(90, 70), torch.randn(70, 64), torch.full((90, 64), torch.nan)
    kernels.addmm_of(matrix, x)(out, matrix, x, beta=0, alpha=alpha, out=out, rectify=True)
    exact = (alpha * matrix.double() @ x.double()).relu()
    assert_close(out.double(), exact, rtol=1e-5, atol=1e-5)


def test_products_in_blocks_pass_on_what_is_not_a_number(monkeypatch):
    monkeypatch.setattr(kernels, "MANY_NODES", 70)
    matrix, x = sparse(90, 70), torch.zeros(70, 2)
    x[3, 1] = torch.nan
    out = torch.empty(90, 2)
    found = kernels.addmm_of(matrix, x)(out, matrix, x, beta=0, out=out)
    assert found.isnan().equal((matrix @ x).isnan())


def test_wide_products_are_those_of_torch():
    matrix, x, out = (
        sparse(3000, 2000, entries=20_000),
        torch.randn(2000, 64),
        torch.empty(3000, 64),
    )
    product = kernels.addmm_of(matrix, x)
    assert product is not torch.addmm
    assert kernels.addmm_of(matrix, x[:, :16]) is torch.addmm
    product(out, matrix, x, beta=0, out=out)
    assert_close(out.double(), matrix.double() @ x.double(), rtol=1e-5, atol=1e-5)


def test_double_precision_is_left_to_torch(monkeypatch):
    monkeypatch.setattr(kernels, "MANY_NODES", 70)
    matrix, x = sparse(90, 70).double(), torch.randn(70, 2, dtype=torch.float64)
    assert kernels.addmm_of(matrix, x) is torch.addmm
