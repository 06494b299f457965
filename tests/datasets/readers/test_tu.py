import pytest
import torch

from graphsct import DataError
from graphsct.datasets import open_data
from graphsct.datasets.readers.tu import from_tu, is_tu

FILES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "-1\n1\n-1\n",
    "node_labels": "0\n1\n0\n2\n2\n1\n",
}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "TINY"
    place.mkdir()
    for name, text in FILES.items():
        (place / f"TINY_{name}.txt").write_text(text)
    return place


def test_graphs_with_labels_of_nodes_as_features(folder):
    assert is_tu(folder) and not is_tu(folder.parent)
    found = from_tu(folder)
    assert [graph.num_nodes for graph in found] == [3, 2, 1]  # the last one has no edge
    assert [graph.graph.num_edges for graph in found] == [2, 1, 0]
    assert found[1].x.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert found.y.tolist() == [0, 1, 0]
    assert found.name == "TINY"


def test_raw_numbers_to_predict_and_no_features(folder):
    (folder / "TINY_node_labels.txt").unlink()
    (folder / "TINY_graph_labels.txt").unlink()
    (folder / "TINY_graph_attributes.txt").write_text("0.5\n1.5\n-2\n")
    (folder / "TINY_A.txt").write_text(FILES["A"] + "6, 6\n")
    whole = folder.parent / "whole"
    whole.mkdir()
    folder.rename(whole / "raw")
    with pytest.raises(DataError, match=r"graph 0 of TINY has no features.*features='degree'"):
        open_data(whole)
    found = open_data(whole, features="degree")
    assert found.y.tolist() == [0.5, 1.5, -2]
    assert found[0].x.argmax(1).tolist() == [1, 2, 1]
    assert found.source["split"]["kind"] == "Fractions"
    assert torch.stack(list(found.splits[0])).sum(0).tolist() == [1, 1, 1]


WRONG = {
    "graph_indicator.txt is missing: it says to which graph": ("graph_indicator", None),
    "graph_labels.txt is missing: it holds the class": ("graph_labels", None),
    "graph_labels.txt has 2 lines, but TINY_graph_indicator.txt says 3": ("graph_labels", "0\n1\n"),
    "node_labels.txt has 1 lines, but TINY_graph_indicator.txt says 6": ("node_labels", "0\n"),
    "expected the graphs 1, 2, ... in order": ("graph_indicator", "1\n2\n1\n2\n2\n3\n"),
    "cannot be read as a TUDataset": ("A", "one, two\n"),
    "graph 0 of TINY: the graph is directed": ("A", "1, 2\n4, 5\n5, 4\n"),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_with_a_folder_is_named(message, folder):
    name, text = WRONG[message]
    path = folder / f"TINY_{name}.txt"
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises(DataError, match=message):
        from_tu(folder)


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(DataError, match=r"has no file NAME_A.txt"):
        from_tu(tmp_path)
