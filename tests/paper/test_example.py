import pytest
import torch

from graphsct import GraphsctError
from graphsct.paper.example import example_graph


@pytest.mark.parametrize("seed", range(8))
def test_graph_is_connected_with_degrees_from_2_to_10(seed):
    graph = example_graph(seed)
    assert graph.num_nodes == 100
    assert graph.num_components == 1
    assert graph.dtype == torch.float64
    degree = graph.degree - 1  # without the self-loop
    assert degree.min() == 2
    assert degree.max() == 10
    assert graph.num_edges == degree.sum() / 2


def test_the_seed_decides():
    first, again, other = example_graph(0), example_graph(0), example_graph(1)
    assert first.matrix.to_dense().equal(again.matrix.to_dense())
    assert not first.degree.equal(other.degree)


def test_a_negative_seed_is_named():
    with pytest.raises(GraphsctError, match="seed is -1"):
        example_graph(-1)
