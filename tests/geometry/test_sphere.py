import pytest
import torch
from torch import nn
from torch.autograd import gradcheck
from torch.testing import assert_close
from zoo import ZOO

from graphsct import geometry


@pytest.mark.parametrize("slope", [0.0, 0.01, 0.3, 0.99])
def test_output_lies_on_the_sphere(slope, graph, dense, x):
    found = geometry.sphere(x, graph, slope)
    h = nn.functional.leaky_relu(x, slope)
    rough = h - dense.P @ h
    assert_close(found.center, (1 + slope) / 2 * (x - dense.P @ x), rtol=1e-9, atol=1e-12)
    assert_close(torch.linalg.norm(rough - found.center), found.radius, rtol=1e-7, atol=1e-7)
    assert found.residual < 1e-7


def test_sphere_is_differentiable():
    graph = ZOO["path"].graph()
    z = torch.linspace(-1, 0.9, 7, dtype=torch.float64).unsqueeze(1).requires_grad_()
    assert gradcheck(lambda z: geometry.sphere(z, graph, 0.1).radius, z)
    assert gradcheck(lambda z: geometry.sphere(z, graph, 0.1).center, z)
