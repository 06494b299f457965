import torch

from graphsct.diagnosis.card import describe_graph
from graphsct.graph import Graph


def test_the_counts_of_every_graph_add_up(graph):
    card = describe_graph(graph)
    assert (card.nodes, card.edges) == (graph.num_nodes, graph.num_edges)
    assert sum(count for _, count in card.degrees) == card.nodes
    assert sum(degree * count for degree, count in card.degrees) == 2 * card.edges
    assert sum(size * count for size, count in card.sizes) == card.nodes
    assert sum(count for _, count in card.sizes) == card.components == graph.num_components
    assert card.isolated <= card.components
    assert card.homophily is None


def test_degrees_and_components_of_a_graph_one_can_count():
    star_and_two_more = Graph([[0, 0, 0, 4], [1, 2, 3, 5]], 7, symmetrize=True)
    card = describe_graph(star_and_two_more, torch.tensor([0, 0, 1, -1, 2, 2, 0]))
    assert card.degrees == ((0, 1), (1, 5), (3, 1))
    assert card.sizes == ((1, 1), (2, 1), (4, 1))
    assert (card.isolated, card.largest_component) == (1, 4)
    assert card.mean_degree == 8 / 7
    assert card.median_degree == 1
    assert card.homophily == 2 / 3  # the edge to the node without a label does not count
    assert card.to_dict()["max_degree"] == 3


def test_homophily_needs_an_edge_with_labels():
    lonely = Graph(torch.arange(3).repeat(2, 1))
    card = describe_graph(lonely, torch.tensor([0, 1, 1]))
    assert card.homophily is None
    assert (card.isolated, card.mean_degree, card.median_degree) == (3, 0, 0)
    pair = Graph([[0, 1], [1, 0]])
    assert describe_graph(pair, torch.tensor([-1, 0])).homophily is None
