import pytest
from board import board_cell
from runs import make_run

from graphsct.errors import ExperimentError
from graphsct.remedies.board_cell import BoardCell, BoardKey, BoardLayer, TriedSetting
from graphsct.remedies.budget import BudgetSetting

LAYER = BoardLayer(0.5, 0.25, 1e-3, 3.5, 2.0, 1e-4)
CELL = board_cell("pair_norm", [0.5, 0.75], layers=(LAYER,), versions={"torch": "2"})


def test_a_cell_comes_back_from_its_file(tmp_path):
    path = CELL.write(tmp_path)
    assert path.name == "cora-gcn-2-pair_norm.json"
    (tmp_path / ".half-written.json").write_text("{")
    assert BoardCell.read_all(tmp_path) == [CELL]


def test_scores_are_those_of_one_rule_in_percent():
    assert CELL.scores() == [50, 75]
    assert CELL.scores("val_loss") == [25, 37.5]
    assert CELL.seconds == 0.0125
    assert board_cell("none", [], chosen=None).seconds is None


def test_what_was_tried_is_taken_from_runs():
    run = make_run(0.5, 0.75, seed=3)
    setting = BudgetSetting(0.01, 0.5, 0.0, 3)
    assert TriedSetting.of(setting, run) == TriedSetting(setting, 0.75, 0.25, 1.5 / 9)
    assert TriedSetting.of(setting, None) == TriedSetting(setting)


def test_names_are_names_of_files():
    assert (
        BoardKey("my/graph folder/", "pyg:GAT", 4, "none").name == "my_graph_folder-pyg_GAT-4-none"
    )


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ExperimentError, match=r"no cell in .*compare_remedies"):
        BoardCell.read_all(tmp_path)
    (tmp_path / "cell.json").write_text('{"data": "cora"}')
    with pytest.raises(ExperimentError, match=r"cell\.json is not a cell.*mend it or delete it"):
        BoardCell.read_all(tmp_path)
