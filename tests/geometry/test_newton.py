import pytest
import torch
from shifts import ACTIVATIONS, component_smoothness
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, geometry
from graphsct.datasets import csbm
from graphsct.errors import UnreachableError
from graphsct.geometry import newton
from graphsct.geometry.newton import Response, find_shift


def targets(graph, t, channels=3):
    return torch.full((graph.num_components, channels), t, dtype=graph.dtype)


@pytest.mark.parametrize("t", [0.1, 0.5, 0.8, 0.98])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_component_has_its_smoothness_where_it_can(graph, dense, x, name, t):
    activation = ACTIVATIONS[name]
    found, free, norm = find_shift(x, graph, targets(graph, t), activation)
    reachable = geometry.smoothness_range(x, graph, activation).contains(targets(graph, t))
    output = activation(x - graph.unpool(found.alpha))
    assert_close(norm, graph.pool(x.square() / graph.basis.unsqueeze(1)).sqrt())
    assert_close(found.square, graph.pool(output.square() / graph.basis.unsqueeze(1)))
    assert free.equal(reachable)
    assert found.alpha[~free].eq(0).all()
    for component in range(dense.m):
        there = component_smoothness(output, dense, component)[free[component]]
        assert_close(there, torch.full_like(there, t))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["relu", "leaky_relu", "elu"])
@pytest.mark.parametrize("t", [0.2, 0.8])
def test_it_is_the_shift_of_the_exact_solver_and_needs_no_help(monkeypatch, dtype, name, t):
    graph = csbm(300, 900, num_components=1, seed=0).graph.to(dtype)
    z = torch.randn(300, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
    exact = geometry.solve_alpha(z, graph, t, name)
    monkeypatch.setattr(newton, "exact_shift", None)
    found, free, _ = find_shift(z, graph, targets(graph, t, 8), ACTIVATIONS[name])
    assert free.all()
    close = {torch.float32: 1e-4, torch.float64: 1e-9}[dtype]
    assert_close(found.alpha, exact, rtol=close, atol=close)


def test_the_exact_solver_takes_over(monkeypatch, graph, x):
    target, relu = targets(graph, 0.9), torch.nn.ReLU()
    found, free, _ = find_shift(x, graph, target, relu)
    monkeypatch.setattr(newton, "_TOGETHER", 0)
    monkeypatch.setattr(newton, "_STEPS", 1)
    exact, also_free, _ = find_shift(x, graph, target, relu)
    assert_close(exact.alpha, found.alpha)
    assert also_free.equal(free)


def test_a_step_that_rounding_makes_zero_is_the_last(monkeypatch):
    """The error is above the tolerance here, and the exact solver would not lower it."""
    graph, relu = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], 3), torch.nn.ReLU()
    y = torch.tensor([[-0.04934864491224289], [-0.04934754967689514], [-0.05345427989959717]])
    monkeypatch.setattr(newton, "exact_shift", None)
    for number in range(8):
        z = (1 + 0.013 * number) * y * graph.basis.unsqueeze(1)
        found, free, _ = find_shift(z, graph, targets(graph, 0.8, 1), relu)
        assert free.all()
        assert ((found.cosine - 0.8).abs() <= 2e-4).all()


def test_large_smooth_parts_are_met_as_well_as_rounding_allows():
    graph = ZOO["connected"].graph(torch.float32)
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    for scale in (1e2, 1e4, 1e9):
        z = x + scale * graph.basis.unsqueeze(1)
        found, free, _ = find_shift(z, graph, targets(graph, 0.8, 2), torch.nn.ReLU())
        assert free.all() == (scale < 1e9)
        assert ((found.cosine - 0.8).abs()[free] <= 1e-6 * scale).all()


def test_the_exact_solver_forgives_rounding(monkeypatch):
    graph = ZOO["connected"].graph(torch.float32)
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    z, relu = x + 5e4 * graph.basis.unsqueeze(1), torch.nn.ReLU()
    with pytest.raises(UnreachableError, match="by rounding"):
        geometry.solve_alpha(z, graph, 0.8)
    monkeypatch.setattr(newton, "_TOGETHER", 0)
    monkeypatch.setattr(newton, "_STEPS", 0)
    found, free, _ = find_shift(z, graph, targets(graph, 0.8, 2), relu)
    assert free.all()
    assert ((found.cosine - 0.8).abs() <= 5e-2).all()


def test_features_that_are_not_finite_stay_as_they_are():
    graph = ZOO["connected"].graph()
    z = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    z[2, 0], z[3, 1] = torch.nan, torch.inf
    found, free, _ = find_shift(z, graph, targets(graph, 0.8), torch.nn.ReLU())
    assert free.tolist() == [[False, False, True]]
    assert found.alpha[:, :2].eq(0).all()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_responses_are_derivatives(graph, x, name):
    alpha = torch.full((graph.num_components, 3), 0.3, dtype=torch.float64).requires_grad_()
    h = ACTIVATIONS[name](x - graph.unpool(alpha))
    inner, square = graph.pool(h), graph.pool(h.square() / graph.basis.unsqueeze(1))
    (fall,) = torch.autograd.grad(-inner.sum(), alpha, retain_graph=True)
    (shrink,) = torch.autograd.grad(-square.sum() / 2, alpha, retain_graph=True)
    (steepness,) = torch.autograd.grad(-(inner / square.sqrt()).sum(), alpha)
    y, work = x / graph.basis.unsqueeze(1), (torch.empty_like(x), torch.empty_like(x))
    found = Response.at(alpha.detach(), y, graph, ACTIVATIONS[name], work)
    assert_close(found.fall, fall)
    assert_close(found.shrink, shrink)
    alive = found.square > 0
    assert_close(found.steepness[alive], (steepness * found.square.sqrt())[alive])
