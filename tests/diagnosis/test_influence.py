import pytest
import torch

from graphsct import Graph
from graphsct.diagnosis.influence import Influence, measure_influence


def path(nodes):
    ends = torch.arange(nodes - 1)
    pairs = torch.stack([ends, ends + 1])
    return Graph(torch.cat([pairs, pairs.flip(0)], dim=1))


def test_influence_is_that_of_the_jacobian():
    graph = path(6)
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    on = graph.to(torch.float64)
    output = on.propagate(on.propagate(x)) @ torch.randn(3, 2, dtype=torch.float64)
    found = measure_influence(output, x, graph)
    assert len(found.shares) == 3  # two steps reach no farther
    assert sum(found.shares) == pytest.approx(1)
    dense = torch.linalg.matrix_power(on.propagate(torch.eye(6, dtype=torch.float64)), 2)
    hops = (torch.arange(6).view(-1, 1) - torch.arange(6)).abs()
    rows = dense / dense.sum(1, keepdim=True)  # all six nodes are looked at
    expected = [float((rows * (hops == hop)).sum() / 6) for hop in range(3)]
    assert list(found.shares) == pytest.approx(expected)
    assert list(found.nodes) == pytest.approx([1, 10 / 6, 8 / 6])


def test_a_graph_without_edges_or_a_constant_output_has_none():
    x = torch.randn(4, 3, requires_grad=True)
    alone = Graph(torch.arange(4).repeat(2, 1))
    assert measure_influence(2 * x, x, alone) is None
    assert measure_influence(torch.ones(6, 2, requires_grad=True), x, path(6)) is None


def test_the_far_half():
    found = Influence((0.3, 0.2, 0.2, 0.2, 0.06, 0.03, 0.01), (1, 2, 4, 8, 16, 32, 64))
    assert found.far == (3, pytest.approx(112 / 127), pytest.approx(0.1))
    assert Influence((0.2,) * 5, (1, 3, 3, 3, 3)).far is None
    assert Influence((1.0, *[0.0] * 7), (1,) * 8).far is None
