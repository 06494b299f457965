import numpy as np
import pytest
import scipy.sparse as sp

from graphsct import DataError
from graphsct.datasets.readers.edges import build_graph, read_edges


def write(path, text):
    path.write_text(text)
    return path


def test_numbers_are_ids_and_words_are_names(tmp_path):
    listed = read_edges(write(tmp_path / "e.csv", "0,1\n1,0\n"))
    assert listed.ids.tolist() == [[0, 1], [1, 0]]
    assert listed.weight is None
    named = read_edges(write(tmp_path / "e.csv", "ada,bob\n"), header=False)
    assert named.ids is None and named.where(0) == f"{tmp_path / 'e.csv'}, line 1"
    numbers = read_edges(write(tmp_path / "e.csv", "0,1\n"), string_ids=True)
    assert numbers.ids is None


def test_weights_are_the_third_column(tmp_path):
    path = write(tmp_path / "e.csv", "0,1,2.5\n1,0,2.5\n")
    assert read_edges(path, weighted=True).weight.tolist() == [2.5, 2.5]
    with pytest.raises(DataError, match=r"found 3 fields.*pass weighted=True"):
        read_edges(path)


def test_a_matrix_has_as_many_nodes_as_rows_and_no_edges_of_weight_zero(tmp_path):
    matrix = sp.coo_array(([3.0, 0.0, 3.0], ([0, 1, 1], [1, 2, 0])), shape=(4, 4))
    sp.save_npz(tmp_path / "m.npz", matrix.tocsr())
    listed = read_edges(tmp_path / "m.npz", weighted=True)
    assert (listed.num_nodes, listed.ids.tolist()) == (4, [[0, 1], [1, 0]])
    assert listed.weight.tolist() == [3.0, 3.0]
    assert listed.where(1) == f"{tmp_path / 'm.npz'}, edge 1"


@pytest.mark.parametrize(
    ("array", "weighted", "message"),
    [
        (np.zeros((3, 4), dtype=int), False, r"shape \(3, 4\), expected \(2, num_edges\)"),
        (np.zeros((2, 3)), False, "holds float64, expected integers"),
        (np.array([[0, 1], [-2, 0]]), False, r"edge 0: \[0, -2\] holds a negative id"),
        (np.array([[0, 1], [1, 0]]), True, "has no weights"),
    ],
)
def test_arrays_that_are_no_edges_are_refused(tmp_path, array, weighted, message):
    np.save(tmp_path / "e.npy", array)
    with pytest.raises(DataError, match=message):
        read_edges(tmp_path / "e.npy", weighted=weighted)


def test_the_line_of_a_wrong_edge_is_named(tmp_path):
    listed = read_edges(write(tmp_path / "e.csv", "0,1\n1,0\n1,2\n"))
    assert build_graph(listed, listed.ids, None, symmetrize=True).num_edges == 2
    with pytest.raises(DataError, match="line 3: the graph is directed"):
        build_graph(listed, listed.ids, None, symmetrize=False)
    with pytest.raises(DataError, match=r"line 3: the node 2 is unknown, there are 2 nodes"):
        build_graph(listed, listed.ids, 2, symmetrize=True)


def test_a_directed_edge_has_the_ids_of_its_file(tmp_path):
    named = read_edges(write(tmp_path / "e.csv", "source,target\nada,bob\nbob,ada\nbob,cy\n"))
    with pytest.raises(DataError, match=r"line 4: .* 1 edges have no reverse.* bob -> cy;"):
        build_graph(named, np.array([[0, 1, 1], [1, 0, 2]]), None, symmetrize=False)
    path = write(tmp_path / "w.csv", "7,9,2.0\n9,7,3.0\n")
    weighted = read_edges(path, weighted=True)
    with pytest.raises(DataError, match=r"line 1: .* the first is 7 -> 9 with 2.0 against 3.0"):
        build_graph(weighted, np.array([[0, 1], [1, 0]]), None, symmetrize=False)
