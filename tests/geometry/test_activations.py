import pytest
import torch
from torch import nn

from graphsct import GraphError
from graphsct.geometry.activations import ACTIVATIONS, negative_slope_of, resolve, slope_of


def test_names_and_modules_are_resolved():
    own = nn.LeakyReLU(0.2)
    assert resolve(own) is own
    assert type(resolve("elu")) is nn.ELU
    with pytest.raises(GraphError, match="activation is 'gelu', expected one of relu, leaky_relu"):
        resolve("gelu")


@pytest.mark.parametrize("activation", [*ACTIVATIONS.values(), nn.LeakyReLU(0.6)], ids=str)
def test_the_slope_is_that_of_the_values_below_zero(activation):
    values = activation(torch.tensor([-1.0, -2.0, -3.0], dtype=torch.float64))
    slopes = -values.diff()
    slope = negative_slope_of(activation)
    if slope is None:
        assert slopes[0] > slopes[1] > 0
    else:
        assert slopes.tolist() == pytest.approx([slope, slope], abs=1e-15)


@pytest.mark.parametrize("activation", [nn.Tanh(), nn.LeakyReLU(1.5), nn.ELU(-1.0)], ids=str)
def test_activations_without_a_known_range_are_refused(activation):
    with pytest.raises(GraphError, match="is not known; expected ReLU"):
        negative_slope_of(activation)


@pytest.mark.parametrize("activation", [*ACTIVATIONS.values(), nn.LeakyReLU(0.6)], ids=str)
def test_slopes_are_those_of_autograd(activation):
    z = torch.tensor([[-2.0, -0.5, 0.0], [0.5, 2.0, 1e-3]], dtype=torch.float64).requires_grad_()
    (expected,) = torch.autograd.grad(activation(z).sum(), z)
    with torch.no_grad():
        torch.testing.assert_close(slope_of(activation, z), expected)
