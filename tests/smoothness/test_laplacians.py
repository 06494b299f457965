import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError
from graphsct.graph import kernels
from graphsct.smoothness import (
    dirichlet_energy,
    laplacians,
    mean_average_distance,
    normalized_smoothness,
    rayleigh_quotient,
)
from graphsct.smoothness.laplacians import LAPLACIANS, walk_energy


def step_differences(case, x, weight):
    """Half the mean squared difference of one step, by a loop over the edges of the case."""
    total = torch.zeros(case.num_nodes, dtype=x.dtype)
    energy = torch.zeros_like(total)
    for (i, j), w in zip(case.edges, weight, strict=True):
        for here, there in {(i, j), (j, i)}:
            total[here] += w
            energy[here] += w * (x[here] - x[there]).square().sum() / 2
    return energy, total


def test_the_random_walk_takes_self_loops_as_steps_that_stay(case, graph, x):
    energy, total = step_differences(case, x, case.weights or [1.0] * len(case.edges))
    has_loop = torch.zeros(case.num_nodes).bool()
    has_loop[[i for i, j in case.edges if i == j]] = True
    expected = (energy / (total + ~has_loop * 1.0)).sum()
    found = LAPLACIANS["random_walk"](x, graph, kernels.inner)
    assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_nodes_without_weight_take_no_step(graph, x):
    nothing = torch.zeros_like(graph.matrix.values())
    assert walk_energy(x, graph, nothing, kernels.inner) == 0


@pytest.mark.parametrize("name", ["random_walk", "combinatorial"])
def test_small_differences_do_not_drown_in_a_large_constant(name):
    graph = ZOO["connected"].graph(torch.float32)
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    energy = LAPLACIANS[name]
    expected = 1e-6 * energy(x, graph, kernels.inner)
    assert_close(energy(1e-3 * x + 10, graph, kernels.inner), expected, rtol=0.01, atol=0.0)


@pytest.mark.parametrize("name", LAPLACIANS)
def test_a_hub_is_as_exact_as_its_neighbours(name):
    leaves = torch.arange(1, 200_000)
    edges = torch.stack([torch.zeros_like(leaves), leaves])
    graph = Graph(edges, symmetrize=True, dtype=torch.float32)
    noise = torch.rand(200_000, 2, generator=torch.Generator().manual_seed(0))
    for x in (graph.degree.sqrt().unsqueeze(1), 1 + 1e-3 * noise, noise):
        energy = LAPLACIANS[name]
        expected = energy(x.double(), graph.double(), kernels.inner).item()
        size = x.double().square().sum().item()
        found = energy(x, graph, kernels.inner).item()
        assert found == pytest.approx(expected, rel=2e-6, abs=1e-7 * size)


def test_hubs_change_neither_values_nor_gradients(graph, x, monkeypatch):
    x.requires_grad_()
    for energy in LAPLACIANS.values():
        expected = energy(x, graph, kernels.inner)
        monkeypatch.setattr(laplacians, "_LONG", 3)
        found = energy(x, graph, kernels.inner)
        monkeypatch.undo()
        assert_close(found, expected, rtol=1e-12, atol=1e-12)
        gradients = [torch.autograd.grad(each, x)[0] for each in (found, expected)]
        assert_close(*gradients, rtol=1e-10, atol=1e-10)


def test_edges_that_were_left_out_leave_no_energy():
    graph = ZOO["weighted"].graph()
    thinned = graph.keep_edges(torch.tensor([True, False, True, True]))
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    assert_close(normalized_smoothness(x, thinned), normalized_smoothness(x, graph))
    for measure in (dirichlet_energy, rayleigh_quotient, mean_average_distance):
        with pytest.raises(GraphError, match="measure on the graph with all edges"):
            measure(x, thinned)
