import numpy as np
import pytest

from graphsct.errors import DirectedGraphError
from graphsct.graph import pattern, threads


@pytest.fixture(params=["small", "large"], autouse=True)
def size(request, monkeypatch):
    """Graphs of a few edges take the path of large ones, too: two threads, and many blocks."""
    if request.param == "large":
        monkeypatch.setattr(threads, "_MANY", 0)
        monkeypatch.setattr(pattern, "_CACHED", 3)


def dense(ids, num_nodes, *, both):
    """The rows that the adjacency with self-loops has as a dense matrix."""
    matrix = np.eye(num_nodes, dtype=bool)
    matrix[ids[0], ids[1]] = True
    matrix |= matrix.T & both
    starts = np.concatenate([[0], matrix.sum(1).cumsum()])
    return starts.tolist(), matrix.nonzero()[1].tolist()


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_a_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    num_nodes, edges = int(rng.integers(1, 12)), int(rng.integers(0, 60))
    ids = rng.integers(0, num_nodes, (2, edges))  # with self-loops and repeats
    starts, columns = pattern.build_pattern(ids, num_nodes + 2, symmetrize=True)
    assert (starts.tolist(), columns.tolist()) == dense(ids, num_nodes + 2, both=True)
    assert starts.dtype == columns.dtype == np.int32
    listed = np.concatenate([ids, ids[::-1, ::-1], ids], axis=1)
    starts, columns = pattern.build_pattern(listed, num_nodes, symmetrize=False)
    assert (starts.tolist(), columns.tolist()) == dense(ids, num_nodes, both=True)


def test_ids_may_have_all_their_bits():
    """The largest id of all needs gigabytes of rows, so that its number alone is looked at."""
    largest = np.array([pattern.MOST_NODES - 1])
    out = np.empty(1, dtype=np.int64)
    pattern._write_keys(largest, largest, out)
    assert out[0] >> 32 == out[0] & 0xFFFFFFFF == largest[0]


def test_edges_without_a_reverse_are_counted_and_the_first_is_named():
    ids = np.array([[4, 3, 0, 1, 3, 3], [4, 1, 2, 0, 0, 1]])
    with pytest.raises(
        DirectedGraphError, match="4 edges have no reverse, the first is 0 -> 2;"
    ) as e:
        pattern.build_pattern(ids, 5, symmetrize=False)
    assert e.value.edge == (0, 2)
    assert pattern.build_pattern(ids, 5, symmetrize=True)[0].tolist() == [0, 4, 7, 9, 12, 13]
