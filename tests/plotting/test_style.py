import sys

import matplotlib as mpl
import pytest

from graphsct.errors import MissingExtraError
from graphsct.plotting.style import styled


def test_the_style_is_ours_inside_and_the_users_outside():
    with mpl.rc_context({"font.size": 7, "lines.dashed_pattern": [9, 9]}):
        with styled():
            assert mpl.rcParams["font.size"] == 13
            assert mpl.rcParams["lines.dashed_pattern"] == [3.7, 1.6]  # Matplotlib's own
        assert mpl.rcParams["font.size"] == 7


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"graphsct\[plot\]"), styled():
        pass
