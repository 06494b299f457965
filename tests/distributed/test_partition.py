import numpy as np
import pytest
import torch
from zoo import ZOO

from graphsct import DataError, Graph
from graphsct.distributed.partition import divide


def entries(graph, owners):
    return np.bincount(owners, weights=graph._adjacency.starts.diff().numpy())


def cut(graph, owners):
    ends = owners[graph.edge_index.numpy()]
    return (ends[0] != ends[1]).mean()


@pytest.mark.parametrize("method", ["contiguous", "metis"])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_have_equal_shares_of_the_edges(data, method, parts):
    graph = data.graph
    owners = divide(graph._adjacency, parts, method)
    shares = entries(graph, owners)
    assert len(shares) == parts
    assert shares.max() <= 1.1 * shares.mean()


def test_contiguous_keeps_the_order(data):
    owners = divide(data.graph._adjacency, 4)
    assert (np.diff(owners) >= 0).all()


def test_metis_cuts_fewer_edges_and_always_the_same(data):
    adjacency = data.graph._adjacency
    owners = divide(adjacency, 3, "metis")
    assert cut(data.graph, owners) < 0.2 * cut(data.graph, divide(adjacency, 3))
    assert (owners == divide(adjacency, 3, "metis")).all()


def test_no_part_is_empty_on_the_whole_zoo():
    for case in ZOO.values():
        for parts in range(1, case.num_nodes + 1):
            owners = divide(case.graph()._adjacency, parts)
            assert (np.unique(owners) == np.arange(parts)).all()


@pytest.mark.parametrize(
    ("parts", "method", "message"),
    [
        (0, "contiguous", r"parts is 0, expected a whole number in 1 \.\. 3"),
        (4, "contiguous", r"parts is 4"),
        (2.0, "contiguous", r"parts is 2\.0"),
        (2, "metsi", r"no method of partition 'metsi', did you mean 'metis'"),
    ],
)
def test_wrong_wishes(parts, method, message):
    with pytest.raises(DataError, match=message):
        divide(Graph(torch.tensor([[0, 1, 2], [1, 0, 2]]))._adjacency, parts, method)


def test_a_part_that_metis_leaves_empty_is_refused():
    star = ZOO["star"].graph()
    with pytest.raises(DataError, match=r"metis left part . of 8 without a node; ask for fewer"):
        divide(star._adjacency, 8, "metis")
