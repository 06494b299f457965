import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets.readers.node_tables import read_features, read_labels, read_numbers

OPTIONS = dict(delimiter=None, header=None)


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return file


def test_features_have_ids_or_none(write):
    x, ids = read_features(write("plain.csv", "1,2\n3,4\n"), **OPTIONS)
    assert x.tolist() == [[1, 2], [3, 4]] and ids is None
    x, ids = read_features(write("named.csv", "id,a\nann,1\nbob,2\n"), **OPTIONS)
    assert x.tolist() == [[1], [2]] and ids.ids.to_pylist() == ["ann", "bob"]
    with pytest.raises(DataError, match=r"gaps\.csv, line 2: field 2 is empty"):
        read_features(write("gaps.csv", "1,2\n3,\n"), **OPTIONS)


def test_numbers_may_be_missing(write, tmp_path):
    y, ids = read_numbers(write("y.csv", "id,price\nann,1.5\nbob,\n"), ("y",), **OPTIONS)
    assert y.shape == (2,) and y[0] == 1.5 and np.isnan(y[1])
    assert ids.ids.to_pylist() == ["ann", "bob"]
    np.save(tmp_path / "y.npy", np.arange(6).reshape(3, 2))
    y, ids = read_numbers(tmp_path / "y.npy", ("y",))
    assert y.shape == (3, 2) and y.dtype == np.float32 and ids is None
    np.save(tmp_path / "words.npy", np.array(["a"]))
    with pytest.raises(DataError, match="does not hold numbers for each node"):
        read_numbers(tmp_path / "words.npy", ("y",))


def test_labels_are_classes_or_several_of_0_and_1(write):
    y, ids = read_labels(write("one.csv", "id,class\nann,red\nbob,\n"), **OPTIONS)
    assert y.tolist() == ["red", "-1"] and ids.ids.to_pylist() == ["ann", "bob"]
    y, ids = read_labels(write("two.csv", "0,1,1\n1,,0\n"), **OPTIONS)
    assert ids is None and np.array_equal(y, [[0, 1, 1], [1, np.nan, 0]], equal_nan=True)
    with pytest.raises(DataError, match=r"label 2 of row 0 is 3; several labels are 0 or 1 each"):
        read_labels(write("three.csv", "0,1,3\n1,0,0\n"), **OPTIONS)
