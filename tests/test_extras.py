import sys

import pytest

from graphsct.errors import MissingExtraError
from graphsct.extras import require, stored_results


def test_a_module_that_is_there_is_returned():
    assert require("json.decoder", "plot") is sys.modules["json.decoder"]


def test_a_missing_module_names_the_extra():
    with pytest.raises(MissingExtraError, match=r'nowhere is not.*pip install "graphsct\[plot\]"'):
        require("nowhere.at.all", "plot")


def test_a_module_with_a_missing_need_of_its_own_says_so(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import nowhere")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        require("half_there", "plot")


def test_stored_results_are_found_in_a_checkout_and_missed_by_the_name_of_their_extra(monkeypatch):
    assert {path.name for path in stored_results("paper").parent.iterdir()} >= {"paper", "remedies"}
    monkeypatch.setitem(sys.modules, "graphsct_results", None)
    with pytest.raises(MissingExtraError, match=r'pip install "graphsct\[results\]"'):
        stored_results("paper")
