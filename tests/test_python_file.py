import pytest

from graphsct.errors import DataError
from graphsct.python_file import execute, explain, is_file


def test_names_in_files():
    assert is_file("folder/my_model.py:Net") and is_file("my_model.py")
    assert not is_file("gcn") and not is_file("folder/graph.npz")


def test_an_error_is_of_the_kind_asked_for_and_names_the_line(tmp_path, registry):
    path = tmp_path / "mine.py"
    path.write_text("x = 1\nraise KeyError('no')\n")
    with pytest.raises(DataError, match=r"mine.py, line 2: KeyError: 'no'"):
        execute(path, DataError)
    path.write_text("x = (\n")
    with pytest.raises(DataError, match=r"mine.py, line 1: SyntaxError: '\(' was never closed"):
        execute(path, DataError)
    path.write_text("x = 1\n")
    assert execute(path, DataError).x == 1
    with pytest.raises(DataError, match=r"there is no file nowhere.py"):
        execute("nowhere.py", DataError)


def test_errors_in_one_line():
    assert explain(RuntimeError("a\n b")) == "RuntimeError: a b"
    assert explain(DataError("a")) == "a"
