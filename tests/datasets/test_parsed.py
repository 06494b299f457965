import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from graphsct.datasets.catalog import find
from graphsct.datasets.parsed import Parsed, path_for, restore, save
from graphsct.datasets.raw import RawFile

EDGES, Y = np.array([[0, 1], [1, 0]]), np.array([1, -1])
MASKS = np.zeros((3, 2, 2), dtype=bool)
X = np.array([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32)


@pytest.mark.parametrize("x", [X, csr_array(X)], ids=["dense", "sparse"])
def test_what_is_saved_is_restored(tmp_path, x):
    path = tmp_path / "processed.npz"
    save(Parsed(EDGES, x, Y, MASKS), path, tmp_path)
    found = restore(path)
    assert issparse(found.x) == issparse(x)
    assert (found.x.toarray() if issparse(x) else found.x).tolist() == X.tolist()
    assert (found.edge_index.tolist(), found.y.tolist()) == (EDGES.tolist(), Y.tolist())
    assert found.masks.shape == MASKS.shape and found.masks.dtype == bool


def test_files_that_are_damaged_or_missing_are_none(tmp_path):
    path = tmp_path / "processed.npz"
    assert restore(path) is None
    save(Parsed(EDGES, X, Y, MASKS), path, tmp_path)
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"x" * 100):
        path.write_bytes(damaged)
        assert restore(path) is None


def test_other_raw_files_have_another_place(cache, tmp_path):
    entry = find("texas")
    expected = path_for(entry, None)
    assert expected.parent == cache / "processed"
    right = [RawFile(name, tmp_path / name, "ok", entry.sha256(name)) for name in entry.raw]
    assert path_for(entry, right) == expected
    wrong = [*right[:-1], RawFile("x", tmp_path, "wrong", "0" * 64)]
    assert path_for(entry, wrong) != expected
