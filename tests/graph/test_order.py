import pytest
import torch

from graphsct import Graph
from graphsct.graph import order

SIDE = 40


def grid(seed=None):
    """A grid of nodes, row by row or in random order."""
    place = torch.arange(SIDE * SIDE)
    if seed is not None:
        place = torch.randperm(len(place), generator=torch.Generator().manual_seed(seed))
    place = place.view(SIDE, SIDE)
    across = torch.stack([place[:, :-1].flatten(), place[:, 1:].flatten()])
    edges = torch.cat([across, torch.stack([place[:-1].flatten(), place[1:].flatten()])], dim=1)
    return Graph(edges, SIDE * SIDE, symmetrize=True)


@pytest.fixture
def few(monkeypatch):
    """As if a graph of so many nodes were large."""
    monkeypatch.setattr(order, "MANY_NODES", SIDE * SIDE)
    monkeypatch.setattr(order, "_ROWS", 100)


def test_a_shuffled_grid_gets_an_order_in_which_neighbours_are_close(few):
    graph = grid(seed=0)
    found = graph.order
    assert found.sort().values.equal(torch.arange(graph.num_nodes))
    distances = [
        (one.edge_index[0] - one.edge_index[1]).abs().double().mean()
        for one in (graph, graph.arranged)
    ]
    assert distances[1] < 0.1 * distances[0]


def test_nodes_that_stand_well_stay(few):
    graph = grid()
    assert graph.order is None
    assert graph.arranged is graph


def test_a_small_graph_stays():
    assert grid(seed=0).order is None


def test_a_sample_and_a_graph_without_some_edges_have_no_order(few):
    graph = grid(seed=0)
    assert graph.arranged is not graph
    lost = graph.keep_edges(torch.arange(graph.num_edges) > 5)
    for other in (lost, graph.subgraph(torch.arange(SIDE * SIDE - 1))):
        assert other.order is None
        assert other.arranged is other
