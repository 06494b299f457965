import json
import re

import pytest
from cells import origin, result

from graphsct.errors import ExperimentError
from graphsct.extras import stored_results
from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.keys import borrow, keys_of
from graphsct.paper.tables import experiments
from graphsct.paper.tables.experiment import TrainedExperiment
from graphsct.training import ModelConfig, TrainConfig

KEY = Key("cora", "gcn", "pooled", 16)
CELL = Cell(
    KEY,
    CellSettings(ModelConfig("gcn", "pooled", 16), TrainConfig(epochs=40, select="val_score")),
    origin(5, max_hidden=32),
    (result(50), result(75, 1), result(25, select="val_loss")),
    "graphsct reproduce table1",
    {"torch": "2"},
)


def test_a_cell_comes_back_from_its_file(tmp_path):
    path = CELL.write(tmp_path)
    assert path.name == "cora-gcn-pooled-16.json"
    assert Cell.read_all(tmp_path) == {KEY: CELL}
    assert Cell.read_all(tmp_path, [KEY._replace(depth=2)]) == {}
    assert "seed" not in json.loads(path.read_text())["settings"]["train"]


def test_accuracies_are_percents_of_one_rule():
    assert CELL.accuracies() == [50, 75]
    assert CELL.accuracies("val_loss") == [25]


def test_what_a_killed_process_left_behind_is_no_cell(tmp_path):
    CELL.write(tmp_path)
    (tmp_path / ".cora-gcn-pooled-2-abc.json").touch()
    assert list(Cell.read_all(tmp_path)) == [KEY]


def test_a_folder_that_is_not_there_has_no_cells(tmp_path):
    assert Cell.read_all(tmp_path / "none") == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.pop("settings"), "the value 'settings' is missing"),
        (
            lambda values: values["results"][0].pop("seed"),
            r"the value 'results.0..seed' is missing",
        ),
        (lambda values: values["settings"]["model"].update(model="gnc"), "no model 'gnc'"),
        (lambda values: values.update(depth=4), "is the cell cora-gcn-pooled-4"),
    ],
)
def test_a_damaged_cell_is_refused_with_its_path(tmp_path, change, message):
    path = CELL.write(tmp_path)
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(ExperimentError, match=f"^{re.escape(str(path))} .*{message}"):
        Cell.read_all(tmp_path)
    path.write_text("{")
    with pytest.raises(ExperimentError, match="is not a cell"):
        Cell.read_all(tmp_path)


PATHS = sorted(stored_results("paper").glob("*.json"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_packaged_cells_are_complete_and_of_the_paper(path):
    (cell,) = (cell for cell in Cell.read_all().values() if cell.key.name == path.stem)
    trained = [one for one in experiments().values() if isinstance(one, TrainedExperiment)]
    wanted = {key for one in trained for key in keys_of(one.printed)}
    assert cell.key in wanted
    model = cell.settings.model
    assert (model.model, model.control) == cell.key[1:3]
    assert cell.key.depth in (None, model.depth)
    assert cell.key.activation in (None, model.activation)
    assert cell.settings.train.select == cell.found.select == "val_score"
    for rule in cell.settings.rules:
        seeds = [run.seed for run in cell.runs(rule)]
        assert seeds == list(range(len(seeds))) and len(seeds) >= 10
    assert cell.command.startswith("graphsct reproduce table")
    assert cell.versions["torch"]
    assert not re.search(r"/(home|tmp|root|work|mnt|usr)/|[A-Z]:\\\\", path.read_text())


def test_borrowed_settings_are_those_of_their_source():
    cells = Cell.read_all()
    borrowed = {key: cell for key, cell in cells.items() if cell.borrowed}
    assert borrowed
    old = [k.name for k, cell in borrowed.items() if borrow(k, cells).settings != cell.settings]
    assert not old, f"delete these cells and run them again: {old}"
