import pytest
import torch
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn.linear import Linear, dropout


@pytest.fixture
def dense_x():
    generator = torch.Generator().manual_seed(2)
    x = torch.rand(30, 20, dtype=torch.float64, generator=generator)
    x[x < 0.8] = 0
    x[4], x[:, 7] = 0, 0
    return x


@pytest.mark.parametrize("bias", [True, False])
def test_sparse_is_dense(dense_x, bias):
    layer = Linear(20, 4, bias=bias).double()
    expected, out = layer(dense_x), layer(dense_x.to_sparse_csr())
    assert_close(out, expected, rtol=1e-12, atol=1e-12)
    parameters = list(layer.parameters())
    for got, want in zip(
        torch.autograd.grad(out.sin().sum(), parameters),
        torch.autograd.grad(expected.sin().sum(), parameters),
        strict=True,
    ):
        assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_gradients_of_any_order(dense_x):
    x = dense_x.to_sparse_csr()
    layer = Linear(20, 2, bias=False).double()

    def of_weight(weight):
        return torch.func.functional_call(layer, {"weight": weight}, x).sin()

    weight = layer.weight.detach().requires_grad_()
    assert torch.autograd.gradcheck(of_weight, weight)
    assert torch.autograd.gradgradcheck(of_weight, weight)


def test_the_transpose_follows_a_change_of_the_values(dense_x):
    x = dense_x.to_sparse_csr()
    layer = Linear(20, 4, bias=False).double()
    layer(x).sum().backward()
    x.values().mul_(3)
    layer.weight.grad = None
    layer(x).sum().backward()
    assert_close(layer.weight.grad, 3 * dense_x.sum(0).expand(4, 20))


def test_dropout_of_sparse_features_drops_stored_values(dense_x):
    x = dense_x.to_sparse_csr()
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    torch.manual_seed(0)
    dropped = dropout(x, 0.5, training=True)
    assert x.to_dense().equal(dense_x)
    kept = dropped.to_dense() != 0
    assert 0.3 < kept.sum() / (dense_x != 0).sum() < 0.7
    assert_close(dropped.to_dense()[kept], 2 * dense_x[kept])
    layer = Linear(20, 4, bias=False).double()
    layer(dropped).sum().backward()
    assert_close(layer.weight.grad, dropped.to_dense().sum(0).expand(4, 20))


def test_inference_mode(dense_x):
    layer = Linear(20, 4).double()
    with torch.inference_mode():
        x = dense_x.to_sparse_csr()
        assert_close(layer(x), layer(dense_x))
        dropped = dropout(x, 0.5, training=True)
        assert_close(layer(dropped), layer(dropped.to_dense()))


def test_dropout_of_dense_features(dense_x):
    assert dropout(dense_x, 0.5, training=False) is dense_x
    assert dropout(dense_x, 0.0, training=True) is dense_x
    dropped = dropout(dense_x, 0.5, training=True)
    kept = dropped != 0
    assert 0.3 < kept.sum() / (dense_x != 0).sum() < 0.7
    assert_close(dropped[kept], 2 * dense_x[kept])


def test_errors_teach(dense_x):
    layer = Linear(20, 4).double()
    with pytest.raises(ModelError, match=r"take no gradient; use x.to_dense\(\)"):
        layer(dense_x.to_sparse_csr().requires_grad_())
    with pytest.raises(ModelError, match=r"shape \(30, 19\), expected \(n, 20\).*in_channels=19"):
        layer(dense_x[:, :19].to_sparse_csr())
    with pytest.raises(ModelError, match=r"shape \(20,\)"):
        layer(dense_x[0])


def test_sparse_products_stay_in_float32_under_autocast(dense_x):
    x, layer = dense_x.float().to_sparse_csr(), Linear(20, 4)
    expected = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(x)
        (grad,) = torch.autograd.grad(out.sin().sum(), layer.weight)
    (wanted,) = torch.autograd.grad(expected.sin().sum(), layer.weight)
    assert_close(out, expected, rtol=0, atol=0)
    assert_close(grad, wanted, rtol=0, atol=0)
