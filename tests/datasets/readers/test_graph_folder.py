import numpy as np
import pytest

from graphsct.datasets import Fractions, demo, from_folder
from graphsct.errors import DataError


@pytest.fixture
def data():
    return demo()


@pytest.fixture
def folder(tmp_path, data):
    place = tmp_path / "mine"
    place.mkdir()
    rows = "\n".join(f"{a},{b}" for a, b in data.edge_index.t().tolist())
    (place / "edges.csv").write_text(rows + "\n")
    np.save(place / "features.npy", data.x.numpy())
    np.savez(place / "labels.npz", y=data.y.numpy())
    return place


def test_files_by_their_names(folder, data):
    found = from_folder(folder)
    assert found.name == "mine"
    assert found.graph.num_edges == data.graph.num_edges
    assert (found.x == data.x).all()
    assert (found.y == data.y).all()
    assert not hasattr(found, "splits")


def test_the_split_of_the_folder_comes_before_the_one_given(folder, data):
    drawn = from_folder(folder, split=Fractions(0.5, 0.25))
    assert int(drawn.train_mask.sum()) == 150
    masks = {part: getattr(data, f"{part}_mask").numpy() for part in ("train", "val", "test")}
    np.savez(folder / "split.npz", **masks)
    assert (from_folder(folder, split=Fractions(0.5, 0.25)).train_mask == data.train_mask).all()
    (folder / "split.npz").unlink()
    for part, mask in masks.items():
        (folder / f"{part}.txt").write_text("\n".join(map(str, np.flatnonzero(mask))) + "\n")
    assert (from_folder(folder).val_mask == data.val_mask).all()
    (folder / "test.txt").unlink()
    with pytest.raises(DataError, match="has train, val, but a split is train, val, test"):
        from_folder(folder)


def test_without_labels_there_is_nothing_to_split(folder):
    (folder / "labels.npz").unlink()
    found = from_folder(folder, split=Fractions())
    assert not hasattr(found, "splits")
    assert found.num_nodes == 300


def test_each_edge_once(folder, data):
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    (folder / "edges.csv").unlink()
    np.save(folder / "edges.npy", once.numpy())
    with pytest.raises(DataError, match="symmetrize"):
        from_folder(folder)
    assert from_folder(folder, symmetrize=True).graph.num_edges == 900


def test_what_is_wrong_with_a_folder(folder, tmp_path):
    np.save(folder / "edges.npy", np.zeros((2, 1), dtype=int))
    with pytest.raises(DataError, match=r"has both edges.csv and edges.npy; keep one"):
        from_folder(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no file of edges"):
        from_folder(tmp_path / "empty")
    with pytest.raises(DataError, match="there is no folder"):
        from_folder(tmp_path / "nowhere")
