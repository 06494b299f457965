import networkx as nx
import pytest
import torch
from scipy.sparse.linalg import ArpackNoConvergence

from graphsct import Graph, GraphError
from graphsct.graph import spectrum


def test_extreme_eigenvalues(graph, dense):
    if not len(dense.outside):
        assert graph.extreme_eigenvalues is None
        return
    expected = dense.outside.max().item(), dense.outside.min().item()
    assert graph.extreme_eigenvalues == pytest.approx(expected, abs=1e-12)


def test_extreme_eigenvalues_of_a_larger_graph_with_many_components():
    parts = [nx.cycle_graph(k) for k in (40, 60, 110, 150)] + [nx.star_graph(9)] * 20
    union = nx.disjoint_union_all(parts)
    graph = Graph.from_networkx(union, dtype=torch.float64)
    assert graph.num_nodes > 256
    outside = torch.linalg.eigvalsh(graph.matrix.to_dense())[: -graph.num_components]
    expected = outside.max().item(), outside.min().item()
    assert graph.extreme_eigenvalues == pytest.approx(expected, abs=1e-10)


def test_eigenvalues_that_the_solver_cannot_tell_apart_are_an_error(monkeypatch):
    def give_up(*_, **__):
        raise ArpackNoConvergence("no convergence", [], [])

    monkeypatch.setattr(spectrum, "eigsh", give_up)
    graph = Graph.from_networkx(nx.path_graph(300), dtype=torch.float64)
    with pytest.raises(GraphError, match=r"of this graph \(300 nodes\) lie too close together"):
        spectrum.extreme_eigenvalues(graph)
