import json

import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.errors import ExperimentError
from graphsct.paper import tables
from graphsct.paper.paper import tables as printed
from graphsct.paper.tables import experiments, find

MINE = """
from dataclasses import dataclass

from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Table
from graphsct.paper.tables.experiment import Experiment


@dataclass(frozen=True)
class Row:
    dataset: str
    lines: int


class Mine(Experiment):
    def build(self, cells, root):
        rows = [Row(path.stem, len(path.read_text().splitlines())) for path in cells.iterdir()]
        columns = (Column("data", "{dataset:s}", right=False), Column("lines", "{lines:d}"))
        return Table("Lines", columns, tuple(rows))

    def run(self, request):
        request.out.mkdir(parents=True, exist_ok=True)
        (request.out / "cora.txt").write_text("1\\n2\\n")
        request.say("counted")
        return True

    def nothing_left(self, choice, cells):
        return ExperimentError("nothing")


EXPERIMENTS = (Mine("mine"),)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setattr(tables, "__path__", [*tables.__path__, str(tmp_path)])
    experiments.cache_clear()
    yield tmp_path / "out"
    experiments.cache_clear()


def test_every_table_of_the_paper_is_an_experiment_then_come_ours():
    assert list(experiments()) == [*printed(), "authors", "term", "replay"]


def test_an_experiment_is_found_by_name_and_by_number():
    assert find("table4") is find("t-tests") is find("4")
    with pytest.raises(ExperimentError, match="the paper has no table 'table12'"):
        find("table12")


def test_a_new_table_is_one_file(mine):
    command = ["reproduce", "mine", "--out", str(mine), "--data", "cora"]
    result = CliRunner().invoke(app, [*command, "--json"])
    assert (result.exit_code, result.stderr) == (0, "counted\n")
    assert json.loads(result.stdout)["cells"] == [{"dataset": "cora", "lines": 2}]
    shown = CliRunner().invoke(app, [*command, "--report", "--markdown"])
    assert "| cora | 2 |" in shown.stdout and shown.stderr == ""
    assert set(experiments()) == {*printed(), "authors", "term", "replay", "mine"}


def test_a_choice_that_leaves_no_row_is_an_error(mine):
    result = CliRunner().invoke(app, ["reproduce", "mine", "--out", str(mine), "--data", "texas"])
    assert result.exit_code == 1 and "graphsct: nothing" in result.stderr
