import pytest
import torch

from graphsct import Graph


def test_repeated_edges_count_once_without_weights_and_add_up_with_them():
    index = [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert Graph(index).degree.equal(torch.tensor([2.0, 2.0]))
    assert Graph(index, edge_weight=[1.0, 1, 2, 2]).degree.equal(torch.tensor([4.0, 4.0]))


def test_sums_of_weights_may_differ_by_rounding_between_the_two_directions():
    weight = torch.rand(200, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    there, back = torch.tensor([[0], [1]]).expand(2, 200), torch.tensor([[1], [0]]).expand(2, 200)
    order = weight.argsort()
    graph = Graph(torch.cat([there, back], 1), edge_weight=torch.cat([weight, weight[order]]))
    assert graph.degree[0] == graph.degree[1] == pytest.approx(1 + weight.sum().item())


def test_a_node_with_a_self_loop_does_not_get_a_second():
    graph = Graph([[0, 0, 1], [0, 1, 0]], edge_weight=[5.0, 2.0, 2.0])
    assert graph.degree.equal(torch.tensor([7.0, 3.0]))


def test_symmetrize_adds_reverse_edges_and_takes_the_larger_weight():
    graph = Graph([[0, 1, 1], [1, 0, 2]], edge_weight=[1.0, 3.0, 2.0], symmetrize=True)
    assert graph.degree.equal(torch.tensor([4.0, 6.0, 3.0]))
    both = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert Graph([[0, 1], [1, 2]], symmetrize=True).adjacency.equals(both.adjacency)


def test_components_are_numbered_by_their_first_nodes():
    found = Graph([[0, 3, 1, 4], [3, 0, 4, 1]], num_nodes=5).adjacency
    assert found.component.tolist() == [0, 1, 2, 0, 1]
    assert found.volume.tolist() == [4, 4, 1]


def test_row_sums_are_the_degrees(case, graph):
    assert graph.adjacency.row_sums().tolist() == pytest.approx(graph.adjacency.degree.tolist())


def test_edges_and_weights_make_two_adjacencies_equal():
    index = [[0, 1, 1, 2], [1, 0, 2, 1]]
    plain, fewer = Graph(index).adjacency, Graph([[0, 1], [1, 0]], num_nodes=3).adjacency
    weighted, heavier = (Graph(index, edge_weight=[w] * 4).adjacency for w in (1.0, 2.0))
    assert plain.equals(Graph(torch.tensor(index).flip(1)).adjacency)
    assert weighted.equals(Graph(index, edge_weight=torch.ones(4).double()).adjacency)
    for other in (fewer, weighted):
        assert not plain.equals(other)
    assert not weighted.equals(heavier)
    assert plain.contains(fewer) and weighted.contains(heavier)
    assert not fewer.contains(plain)
