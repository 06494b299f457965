import pytest
import torch
from shifts import ACTIVATIONS
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph
from graphsct.geometry.target_map import TargetMap


def work(x):
    return [torch.full_like(x, torch.nan) for _ in range(3)]


def mapped(z, graph, activation, target, *, rescale):
    found = TargetMap(graph, activation, rescale=rescale)
    out = torch.empty_like(z)
    found.forward(z, target, out, work(z))
    return found, out


def linear(name):
    return name not in ("elu", "selu", "elu_half")


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("rescale", [False, True])
def test_gradients_are_those_of_finite_differences(graph, x, name, rescale):
    if rescale and not linear(name):
        pytest.skip("a factor before it is no factor behind it")
    activation, generator = ACTIVATIONS[name], torch.Generator().manual_seed(1)
    target = torch.linspace(0.72, 0.85, 3, dtype=x.dtype).expand(graph.num_components, 3)
    gradient = torch.randn(x.shape, dtype=x.dtype, generator=generator)
    found, out = mapped(x, graph, activation, target, rescale=rescale)
    of_x = torch.empty_like(x)
    of_target = found.backward(out, gradient, of_x, work(x))
    for size, exact, move in (
        (x.shape, of_x, lambda d: (x + d, target)),
        (target.shape, of_target, lambda d: (x, target + d)),
    ):
        direction = 1e-5 * torch.randn(size, dtype=x.dtype, generator=generator)
        ends = [
            mapped(z, graph, activation, t, rescale=rescale)[1]
            for z, t in (move(direction), move(-direction))
        ]
        difference = ((ends[0] - ends[1]) / 2 * gradient).sum()
        assert_close((exact * direction).sum(), difference, rtol=1e-4, atol=1e-9)


def test_it_may_write_over_its_input():
    graph = ZOO["many_components"].graph()
    z = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    target = torch.full((graph.num_components, 2), 0.8, dtype=torch.float64)
    for rescale in (False, True):
        _, expected = mapped(z, graph, torch.nn.ReLU(), target, rescale=rescale)
        own = z.clone()
        TargetMap(graph, torch.nn.ReLU(), rescale=rescale).forward(own, target, own, work(z))
        assert own.equal(expected)


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("name", ["relu", "leaky_relu", "identity"])
@pytest.mark.parametrize("exponent", [-120, -60, 50, 64, 120])
def test_features_whose_squares_leave_float32_are_mapped_like_others(exponent, name, rescale):
    graph = ZOO["many_components"].graph().float()
    generator = torch.Generator().manual_seed(0)
    z, gradient = torch.randn(2, graph.num_nodes, 3, generator=generator)
    z[:, 1] = 0
    target = torch.full((graph.num_components, 3), 0.8)
    # The first component and the other ones have different sizes.
    unit = torch.where(graph.component == 0, 2.0**exponent, 1.0).unsqueeze(1)
    found, expected = mapped(z, graph, ACTIVATIONS[name], target, rescale=rescale)
    of_z = torch.empty_like(z)
    of_target = found.backward(expected, gradient, of_z, work(z))
    own, out = mapped(z * unit, graph, ACTIVATIONS[name], target, rescale=rescale)
    of_own = torch.empty_like(z)
    of_own_target = own.backward(out, gradient, of_own, work(z))
    assert not expected.equal(z)
    assert_close(out / unit, expected)
    assert_close(of_own, of_z)
    of_target[0] *= 2.0**exponent
    assert_close(of_own_target, of_target, rtol=1e-4, atol=0)


def test_averages_are_weighted_by_degree(graph, dense):
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    assert_close(graph.averaging(x), dense.Q.square().t() @ x)
    assert isinstance(graph, Graph)
