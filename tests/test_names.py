import pytest

from graphsct import ModelError
from graphsct.names import nearest, pick


def test_pick():
    assert pick({"a": 1, "b": 2}, "b", "letter") == 2
    with pytest.raises(ModelError, match="no letter 'C'; choose from a, b"):
        pick({"a": 1, "b": 2}, "C", "letter")
    with pytest.raises(ModelError, match=r"no letter \['a'\]"):
        pick({"a": 1}, ["a"], "letter")


def test_the_nearest_name_in_whatever_case():
    assert nearest("nett", ["Net", "build"]).startswith(", did you mean 'Net'?")
