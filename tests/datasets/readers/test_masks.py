import numpy as np
import pytest
import torch

from graphsct import DataError
from graphsct.datasets import Fractions, Split
from graphsct.datasets.readers.masks import as_mask, read_splits

MASKS = Split(*(torch.arange(6) // 2 == part for part in range(3)))


def test_masks_and_node_numbers_are_the_same():
    mask = np.array([True, False, True])
    for given in (mask, np.array([2, 0]), np.array([0, 2], dtype=np.uint8)):
        assert as_mask(given, 3, "split").tolist() == mask.tolist()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (np.array([0, 3]), r"split, index 1: the node 3 is not in 0 \.\. 2"),
        (np.array([-1]), r"split, index 0: the node -1 is not in 0 \.\. 2"),
        (np.array([0.0]), "float64 and shape .* is neither a mask nor a list of node numbers"),
        (np.zeros((2, 2), dtype=bool), r"shape \(2, 2\) is neither a mask nor"),
    ],
)
def test_others_are_refused(nodes, message):
    with pytest.raises(DataError, match=message):
        as_mask(nodes, 3, "split")


def test_a_split_is_given_drawn_or_left_out():
    y = torch.tensor([0, 1] * 3)
    assert read_splits(None, y, 6) == []
    assert read_splits(MASKS, y, 6) == [MASKS]
    (drawn,) = read_splits(Fractions(1 / 3, 1 / 3), y, 6)
    assert [int(mask.sum()) for mask in drawn] == [2, 2, 2]
    with pytest.raises(DataError, match="draws by class, but there are no labels"):
        read_splits(Fractions(), None, 6)


def test_an_archive_has_all_three_parts(tmp_path):
    path = tmp_path / "split.npz"
    np.savez(path, train=[0, 1], val_mask=MASKS.val.numpy(), test=[4, 5])
    (found,) = read_splits(path, None, 6)
    assert all(map(torch.equal, found, MASKS))
    np.savez(path, train=[0], val=[1])
    with pytest.raises(DataError, match="holds train, val, but no test"):
        read_splits(path, None, 6)


def test_other_files_and_parts_are_refused(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0\n")
    with pytest.raises(DataError, match=r"a split in one file is a \.npz"):
        read_splits(path, None, 6)
    with pytest.raises(DataError, match=r"has the parts \['train', 'valid'\], expected train, val"):
        read_splits({"train": path, "valid": path}, None, 6)
