import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets.readers.columns import read_columns
from graphsct.datasets.readers.edges import read_edges
from graphsct.datasets.readers.numbering import Named, number_classes, number_nodes, rows_of


def named(path, *names):
    path.write_text("\n".join(names))
    return Named.of(read_columns(path, lambda *_: ["string"], ids=1, header=False))


def edges(path, text):
    path.write_text(text)
    return read_edges(path, header=False)


def test_names_are_numbered_in_order_of_appearance_or_of_a_file(tmp_path):
    listed = edges(tmp_path / "e.csv", "bob,ada\nada,bob\nada,eve\n")
    index, names = number_nodes(listed, None)
    assert (index.tolist(), names) == ([[0, 1, 1], [1, 0, 2]], ["bob", "ada", "eve"])
    index, names = number_nodes(listed, named(tmp_path / "n.txt", "ada", "bob", "dan", "eve"))
    assert (index.tolist(), names) == ([[1, 0, 0], [0, 1, 3]], ["ada", "bob", "dan", "eve"])


def test_numbers_stay_unless_they_are_names(tmp_path):
    listed = edges(tmp_path / "e.csv", "30,10\n10,30\n")
    assert number_nodes(listed, None) == (listed.ids, None)
    index, _ = number_nodes(listed, named(tmp_path / "n.txt", "10", "20", "30"))
    assert index.tolist() == [[2, 0], [0, 2]]
    with pytest.raises(DataError, match=r"not integers, unlike the edges .*string_ids=True"):
        number_nodes(listed, named(tmp_path / "n.txt", "10", "x"))


def test_unknown_missing_and_repeated_names_are_named_with_their_line(tmp_path):
    listed = edges(tmp_path / "e.csv", "ada,bob\nada,eve\n")
    few, more = (
        named(tmp_path / "a.txt", "ada", "bob"),
        named(tmp_path / "b.txt", "bob", "x", "ada"),
    )
    with pytest.raises(DataError, match=r"e\.csv, line 2: the node 'eve' is not in .*a\.txt"):
        number_nodes(listed, few)
    with pytest.raises(DataError, match=r"n\.txt, line 3: the node 'ada' is listed twice"):
        named(tmp_path / "n.txt", "ada", "bob", "ada")
    assert rows_of(named(tmp_path / "c.txt", "ada", "x", "bob"), more).tolist() == [2, 1, 0]
    with pytest.raises(DataError, match=r"b\.txt, line 2: the node 'x' is not in .*a\.txt"):
        rows_of(few, more)


@pytest.mark.parametrize(
    ("values", "y", "names"),
    [
        (np.array([1, 0, -1]), [1, 0, -1], None),
        (np.array([[2.0], [0.0], [1.0]]), [2, 0, 1], None),
        (np.array([7, 3, 7]), [1, 0, 1], [3, 7]),
        (np.array(["b", "a", "-1"]), [1, 0, -1], ["a", "b"]),
        (np.array(["1", "0", "-1"]), [1, 0, -1], None),
    ],
)
def test_classes_are_numbered_from_zero(values, y, names):
    found, known = number_classes(values, 3, "y.npy")
    assert (found.tolist(), known) == (y, names)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([0, 1]), r"has 2 labels of shape \(2,\), but there are 3 nodes"),
        (np.array([0, 1.5, 2]), r"node 1: the label 1\.5 is not a class"),
        (np.array([-1, -1, -1]), "has no label at all"),
        (np.array([True, False, True]), "holds bool, expected integers or names"),
    ],
)
def test_values_that_are_no_classes_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        number_classes(values, 3, "y.npy")


def test_labels_too_large_for_a_class_are_refused_instead_of_merged():
    with pytest.raises(DataError, match=r"y, node 1: the label 1e\+30 is not a class"):
        number_classes(np.array([2.0**62, 1e30, 1e31]), 3, "y")
