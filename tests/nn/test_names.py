import pytest

from graphsct import ModelError
from graphsct.nn.names import check_size, pick


def test_pick():
    assert pick({"a": 1, "b": 2}, "b", "letter") == 2
    with pytest.raises(ModelError, match="no letter 'C'; choose from a, b"):
        pick({"a": 1, "b": 2}, "C", "letter")
    with pytest.raises(ModelError, match=r"no letter \['a'\]"):
        pick({"a": 1}, ["a"], "letter")


def test_check_size():
    assert check_size(3, "width") == 3
    for wrong in (0, -1, 2.0, True, None, "3"):
        with pytest.raises(ModelError, match=r"width is .*at least 1"):
            check_size(wrong, "width")
