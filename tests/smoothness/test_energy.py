import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct.smoothness import dirichlet_energy, normalized_dirichlet_energy


def test_energy_is_the_sum_over_the_edges(case, graph, dense, x):
    scaled = x / dense.degree.sqrt().unsqueeze(1)
    weights = case.weights or [1.0] * len(case.edges)
    edges = zip(case.edges, weights, strict=True)
    expected = sum(w * (scaled[i] - scaled[j]).square().sum().item() for (i, j), w in edges)
    assert dirichlet_energy(x, graph).item() == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_eigenvectors_have_one_minus_their_eigenvalue():
    graph = ZOO["star"].graph()
    eigenvalues, vectors = torch.linalg.eigh(graph.matrix.to_dense())
    for value, vector in zip(eigenvalues, vectors.T, strict=True):
        column = 3 * vector.unsqueeze(1)
        expected = (1 - value).clamp_min(0)
        assert_close(dirichlet_energy(column, graph), 9 * expected, rtol=1e-12, atol=1e-14)
        assert_close(normalized_dirichlet_energy(column, graph), expected, rtol=1e-12, atol=1e-14)


def test_no_features_no_energy(graph):
    zeros = torch.zeros(graph.num_nodes, 2, dtype=torch.float64)
    assert normalized_dirichlet_energy(zeros, graph) == 0
