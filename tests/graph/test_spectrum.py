import re
import time

import networkx as nx
import pytest
import torch
from scipy.linalg import eigh_tridiagonal

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


@pytest.mark.parametrize("steps", [5, 300])
def test_long_paths_and_trees_are_factorised(steps, monkeypatch):
    monkeypatch.setattr(spectrum, "_STEPS_IF_THIN", steps)  # far too few, and a few
    parts = [nx.path_graph(900), nx.balanced_tree(2, 7), nx.cycle_graph(350), nx.path_graph(3)]
    graph = Graph.from_networkx(nx.disjoint_union_all(parts), dtype=torch.float64)
    outside = torch.linalg.eigvalsh(graph.matrix.to_dense())[: -graph.num_components]
    upper, lower = graph.extreme_eigenvalues
    assert 1 - upper == pytest.approx(1 - outside.max().item(), rel=1e-7)
    assert lower == pytest.approx(outside.min().item(), abs=1e-7)


def test_a_path_of_many_nodes_takes_no_minute():
    nodes = 30_000
    edges = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    graph = Graph(edges, nodes, symmetrize=True)
    matrix = graph.double().matrix.to_sparse_coo().coalesce()
    row, column = matrix.indices()
    diagonal, off = (matrix.values()[column - row == k].numpy() for k in (0, 1))
    expected = eigh_tridiagonal(
        diagonal, off, eigvals_only=True, select="i", select_range=(nodes - 2, nodes - 2)
    )
    start = time.process_time()
    upper, lower = graph.extreme_eigenvalues
    assert time.process_time() - start < 30  # a tenth of this path used to take more
    assert upper == pytest.approx(float(expected[0]), abs=1e-13)
    assert lower == pytest.approx(-1 / 3, abs=1e-7)


def test_an_eigenspace_between_all_others_is_left_out():
    complete = [nx.complete_graph(20)] * 20  # all eigenvalues but those of the eigenspace are 0
    graph = Graph.from_networkx(nx.disjoint_union_all(complete), dtype=torch.float64)
    assert graph.num_nodes > 256
    assert graph.extreme_eigenvalues == pytest.approx((0, 0), abs=1e-12)


def test_eigenvalues_that_do_not_converge_are_an_error_with_the_bounds_reached(monkeypatch):
    monkeypatch.setattr(spectrum, "_STEPS", 40)
    graph = Graph.from_networkx(nx.grid_2d_graph(50, 50), dtype=torch.float64)
    message = r"2500 nodes\) .* after 40 steps .* is at least (0\.99\S+) and .* at most (-0\.5\d+)"
    with pytest.raises(GraphError, match=message) as caught:
        spectrum.extreme_eigenvalues(graph)
    bounds = re.search(message, str(caught.value)).groups()
    monkeypatch.undo()
    upper, lower = spectrum.extreme_eigenvalues(graph)
    assert lower <= float(bounds[1]) and float(bounds[0]) <= upper
