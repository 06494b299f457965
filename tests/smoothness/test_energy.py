import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError
from graphsct.smoothness import dirichlet_energy, normalized_dirichlet_energy, rayleigh_quotient


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


@pytest.mark.parametrize("laplacian", ["symmetric", "random_walk", "combinatorial"])
def test_the_quotient_of_one_dimension_is_its_energy_over_its_squared_norm(
    graph, dense, x, laplacian
):
    found = rayleigh_quotient(x, graph, laplacian)
    assert_close(found, dense.rayleigh_quotient(x, laplacian), rtol=1e-10, atol=1e-12)
    energy = dirichlet_energy(x[:, :1], graph, laplacian=laplacian)
    assert_close(found[0], energy / x[:, 0].square().sum(), rtol=1e-10, atol=1e-12)


def test_the_normalized_energy_is_a_weighted_mean_of_quotients(graph, x):
    weight = x.square().sum(0) / x.square().sum()
    expected = (weight * rayleigh_quotient(x, graph)).sum()
    assert_close(normalized_dirichlet_energy(x, graph), expected)


def test_dead_dimensions_have_the_quotient_of_smooth_ones(graph):
    x = torch.zeros(graph.num_nodes, 2, dtype=torch.float64, requires_grad=True)
    found = rayleigh_quotient(x, graph)
    assert found.tolist() == [0, 0]
    found.sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("measure", [dirichlet_energy, rayleigh_quotient])
def test_unknown_laplacians_are_named(measure):
    with pytest.raises(GraphError, match="no laplacian 'randomwalk', did you mean 'random_walk'"):
        measure(torch.ones(7, 1).double(), ZOO["path"].graph(), "randomwalk")
