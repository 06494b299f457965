import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct.graph import kernels
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
