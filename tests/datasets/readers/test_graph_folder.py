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


def test_the_split_given_comes_before_that_of_the_folder(folder, data):
    drawn = from_folder(folder, split=Fractions(0.5, 0.25))
    assert int(drawn.train_mask.sum()) == 150
    masks = {part: getattr(data, f"{part}_mask").numpy() for part in ("train", "val", "test")}
    np.savez(folder / "split.npz", **masks)
    assert (from_folder(folder).train_mask == data.train_mask).all()
    assert int(from_folder(folder, split=Fractions(0.5, 0.25)).train_mask.sum()) == 150
    (folder / "split.npz").unlink()
    for part, mask in masks.items():
        (folder / f"{part}.txt").write_text("\n".join(map(str, np.flatnonzero(mask))) + "\n")
    assert (from_folder(folder).val_mask == data.val_mask).all()
    (folder / "test.txt").unlink()
    with pytest.raises(DataError, match="has train, val, but a split needs train, val, test"):
        from_folder(folder)


def test_without_labels_there_is_nothing_to_split(folder):
    (folder / "labels.npz").unlink()
    with pytest.raises(DataError, match="draws by class, but there are no labels"):
        from_folder(folder, split=Fractions())
    assert not hasattr(from_folder(folder), "splits")


def test_names_weights_three_splits_and_numbers_to_predict(tmp_path):
    place = tmp_path / "prices"
    place.mkdir()
    pairs = [("ann", "bob", 2.0), ("bob", "cy", 0.5), ("cy", "dan", 1.0)]
    rows = [f"{a},{b},{w}" for a, b, w in pairs] + [f"{b},{a},{w}" for a, b, w in pairs]
    (place / "edges.csv").write_text("source,target,weight\n" + "\n".join(rows) + "\n")
    (place / "features.csv").write_text("id,age\ndan,4\nann,1\nbob,2\ncy,3\n")
    (place / "targets.csv").write_text("id,price,rent\nann,10.5,1\nbob,,\ncy,7,\ndan,3,2\n")
    masks = np.eye(4, dtype=bool)[[1, 3, 0]]  # ann, cy and dan, in the order dan, ann, bob, cy
    splits = {name: np.roll(masks, k, axis=0) for k, name in enumerate(("train", "val", "test"))}
    np.savez(place / "split.npz", **splits)
    data = from_folder(place)
    assert data.node_ids == ["dan", "ann", "bob", "cy"]
    assert data.edge_weight.tolist() == [1, 2, 2, 0.5, 1, 0.5]
    assert data.y.nan_to_num(-1).tolist() == [[3, 2], [10.5, 1], [-1, -1], [7, -1]]
    assert (data.num_outputs, len(data.splits)) == (2, 3)
    assert not hasattr(data, "num_classes")
    assert data.splits[1].train.tolist() == [False, False, False, True]
    np.savez(place / "split.npz", **splits | {"val": np.eye(4, dtype=bool)[[2]]})
    with pytest.raises(DataError, match="split 0 of prices: node 2 is in val but has no label"):
        from_folder(place)
    np.savez(place / "split.npz", **splits | {"val": masks[:2]})
    with pytest.raises(DataError, match=r"split.npz has 3, 2, 3 masks for training"):
        from_folder(place)
    (place / "labels.csv").write_text("ann,a\nbob,b\ncy,a\ndan,b\n")
    with pytest.raises(DataError, match=r"labels.csv and .*targets.csv are both to be predicted"):
        from_folder(place)


def test_features_are_made_for_a_folder_without_any(folder):
    with pytest.raises(DataError, match=r"has features.npy; leave features='degree' out"):
        from_folder(folder, features="degree")
    (folder / "features.npy").unlink()
    assert from_folder(folder, features="degree").num_features == 64
    assert from_folder(folder).x is None


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


@pytest.mark.parametrize("missing", ["features.npy", "labels.npz"])
def test_a_file_that_is_not_read_is_named_where_others_are_missing(folder, missing):
    (folder / "node_table.csv").write_text("id,label\n0,1\n")
    (folder / "README.txt").write_text("read me")
    assert from_folder(folder).num_nodes == 300
    (folder / missing).unlink()
    with pytest.raises(DataError, match=r"node_table\.csv is not read: .* edges, features, labels"):
        from_folder(folder)
    (folder / "node_table.csv").unlink()
    assert from_folder(folder).num_nodes == 300
