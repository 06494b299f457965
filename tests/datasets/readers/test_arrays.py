import numpy as np
import pytest
import scipy.sparse as sp

from graphsct import DataError
from graphsct.datasets.readers.arrays import read_array

X = np.array([[0.0, 2.0], [1.0, 0.0]])


def test_one_array_has_any_name_and_of_several_the_key_decides(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, anything=X)
    assert read_array(path, ("x",)).tolist() == X.tolist()
    np.savez(path, x=X, other=2 * X)
    assert read_array(path, ("x",)).tolist() == X.tolist()
    with pytest.raises(DataError, match=r"holds the arrays other, x; expected one.*y or labels"):
        read_array(path, ("y", "labels"))
    np.savez(path, x=X, y=X)
    with pytest.raises(DataError, match=r"holds the arrays x, y"):
        read_array(path, ("x", "y"))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_matrices_of_scipy_become_csr(tmp_path, kind):
    sp.save_npz(tmp_path / "m.npz", kind(X))
    found = read_array(tmp_path / "m.npz", ("x",))
    assert found.format == "csr" and found.toarray().tolist() == X.tolist()


def test_a_matrix_with_a_wrong_index_is_refused(tmp_path):
    matrix = sp.csr_array(X)
    parts = dict(data=matrix.data, indices=matrix.indices + 5, indptr=matrix.indptr)
    np.savez(tmp_path / "m.npz", format=b"csr", shape=matrix.shape, **parts)
    with pytest.raises(DataError, match=r"m\.npz is not a matrix saved by SciPy"):
        read_array(tmp_path / "m.npz", ("x",))
    np.savez(tmp_path / "m.npz", format=b"dia", shape=matrix.shape, **parts)
    with pytest.raises(DataError, match="the format b'dia' is none of csr, csc and coo"):
        read_array(tmp_path / "m.npz", ("x",))


def test_pickles_and_empty_archives_are_refused(tmp_path):
    np.save(tmp_path / "p.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"p\.npy cannot be read"):
        read_array(tmp_path / "p.npy", ("x",))
    np.savez(tmp_path / "e.npz")
    with pytest.raises(DataError, match=r"e\.npz is empty"):
        read_array(tmp_path / "e.npz", ("x",))
