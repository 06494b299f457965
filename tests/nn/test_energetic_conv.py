import pytest
import torch
from convolutions import FORMS, edges_of, gradients
from torch.testing import assert_close

from graphsct.nn import EnergeticConv


@pytest.mark.parametrize("form", FORMS)
def test_energetic_conv_is_its_dense_formula(case, dense, x, x_0, form):
    conv = EnergeticConv(3, c_min=0.5, beta=0.2, c_max=1.44).double()
    assert_close(conv.weight.detach(), 1.2 * torch.eye(3, dtype=torch.float64))
    conv.weight.data.add_(torch.randn(3, 3, dtype=torch.float64))
    x.requires_grad_()
    out = conv(x, x_0, *edges_of(case, form))
    expected = (0.5 * dense.G @ x + 0.2 * x_0 + 0.3 * x) @ conv.weight
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, x_0, conv.weight), gradients(expected, x, x_0, conv.weight), strict=True
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


def test_energetic_penalty_is_the_distance_from_the_start():
    conv = EnergeticConv(4, c_max=4.0)
    conv.penalty().backward()
    assert conv.penalty() == 0
    assert conv.weight.grad.equal(torch.zeros(4, 4))
    conv.weight.data[0, 1] += 3
    assert_close(conv.penalty().detach(), torch.tensor(3.0))
    conv.reset_parameters()
    assert conv.penalty() == 0
