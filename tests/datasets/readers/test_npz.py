import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets import Fractions, demo, from_npz


@pytest.fixture(scope="module")
def arrays():
    data = demo()
    masks = [np.stack([mask.numpy(), np.roll(mask.numpy(), 1)]) for mask in data.splits[0]]
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    return {
        "node_features": data.x.numpy(),
        "node_labels": data.y.numpy(),
        "edges": once.t().numpy(),
        **dict(zip(("train_masks", "val_masks", "test_masks"), masks, strict=True)),
    }


@pytest.fixture
def read(tmp_path, arrays):
    def save_and_read(changes=None, **options):
        found = {k: v for k, v in {**arrays, **(changes or {})}.items() if v is not None}
        np.savez(tmp_path / "mine.npz", **found)
        return from_npz(tmp_path / "mine.npz", **options)

    return save_and_read


def test_each_row_of_masks_is_a_split(read, arrays):
    data = read()
    assert (data.name, data.graph.num_edges, len(data.splits)) == ("mine", 900, 2)
    assert data.splits[1].val.tolist() == arrays["val_masks"][1].tolist()
    assert data.x.tolist() == arrays["node_features"].tolist()
    assert int(read(split=Fractions(0.5, 0.25)).train_mask.sum()) == 150


def test_only_edges_and_labels_are_required(read):
    nothing = dict.fromkeys(("node_features", "train_masks", "val_masks", "test_masks"))
    data = read(nothing, features="degree")
    assert data.num_features == 64
    assert not hasattr(data, "splits")
    numbers = read({**nothing, "node_labels": np.linspace(0, 1, 300)})
    assert numbers.num_outputs == 1


WRONG = {
    "but no edges; expected edges, node_labels": {"edges": None},
    r"edges holds an array of shape \(3, 3\)": {"edges": np.zeros((3, 3), dtype=int)},
    "the node 300 is unknown, there are 300 nodes": {"edges": np.array([[0, 300]])},
    "node_labels: <U1": {"node_labels": np.array(["a"] * 300)},
    "has other masks, but no val_masks": {"val_masks": None},
    "train_masks: an array of bool and shape": {"train_masks": np.ones((2, 7), dtype=bool)},
    r"the features of mine has shape \(299, 1\)": {"node_features": np.ones((299, 1))},
    "cannot be read: ValueError: Object arrays cannot be loaded": {"edges": np.array([{}])},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_with_a_file_is_named(message, read):
    with pytest.raises(DataError, match=message):
        read(WRONG[message])
