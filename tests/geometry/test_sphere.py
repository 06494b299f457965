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


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-22, 1.0, 1e20, 1e38])
def test_sphere_scales_with_its_input_even_in_float32(scale, slope):
    graph = ZOO["path"].graph(torch.float32)
    z = torch.linspace(-1, 0.9, 7).unsqueeze(1)
    expected, found = geometry.sphere(z, graph, slope), geometry.sphere(scale * z, graph, slope)
    digits = 1e-5 if scale > 1e-38 else 1e-4  # such small numbers have fewer digits
    assert found.radius.item() == pytest.approx(scale * expected.radius.item(), rel=digits)
    assert_close(found.center / scale, expected.center, rtol=digits, atol=digits)
    assert found.residual <= digits * found.radius


def test_sphere_of_zeros_is_a_point(graph):
    found = geometry.sphere(torch.zeros(graph.num_nodes, 2, dtype=torch.float64), graph)
    assert (found.radius, found.residual) == (0, 0)
