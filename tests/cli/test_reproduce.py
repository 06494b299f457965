import json
import os
from dataclasses import replace

import pytest
from cells import origin
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.training import ModelConfig, TrainConfig

KEY = Key("texas", "gcn", None, None, "leaky_relu")


@pytest.fixture
def run(tmp_path):
    def go(*arguments):
        line = ("reproduce", *arguments, "--out", tmp_path / "out", "--work", tmp_path / "work")
        return CliRunner().invoke(app, [str(argument) for argument in line])

    return go


@pytest.fixture
def real():
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")


@pytest.fixture
def texas(real, tmp_path):
    model = ModelConfig(depth=2, hidden=8, activation="leaky_relu")
    settings = CellSettings(model, TrainConfig(epochs=5, select="val_score"))
    return Cell(KEY, settings).write(tmp_path / "out")


CHOICE = ("table2", "--data", "texas", "--model", "gcn", "--control", "none")


def test_a_cell_is_run_once_with_the_settings_that_are_known(run, texas):
    result = run(*CHOICE)
    assert result.exit_code == 0, result.output
    assert "1 cells to run, 1 in all" in result.stderr
    assert "about" in result.stderr
    assert "texas-gcn-none-leaky_relu" in result.stderr and "(10 runs, val" in result.stderr
    assert "Table 2 (heterophilic)" in result.stdout and "52.16" in result.stdout
    results = json.loads(texas.read_text())["results"]
    assert [row["split"] for row in results] == list(range(10))
    again = run(*CHOICE)
    assert again.exit_code == 0
    assert "0 cells to run" in again.stderr


def test_a_report_runs_nothing_and_has_the_promised_names(run, tmp_path):
    result = run("table1", "--report", "--json", "--data", "cora", "--depth", "2,4")
    assert result.exit_code == 0, result.output
    assert result.stderr == "" and not (tmp_path / "work").exists()
    cells = json.loads(result.stdout)["cells"]
    assert len(cells) == 12
    names = {"dataset", "model", "control", "depth", "paper", "ours", "std", "n"}
    assert all(names <= set(cell) for cell in cells)
    assert (cells[1]["control"], cells[1]["paper"], cells[1]["ours"]) == ("pooled", 82.9, None)


@pytest.mark.parametrize("number", range(1, 12))
def test_every_table_is_reported(run, number, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path))
    form = ((), ("--markdown",), ("--json",))[number % 3]
    result = run(f"table{number}", "--report", "--root", tmp_path, *form)
    assert result.exit_code == 0, result.output
    word = "dropout" if number == 7 else "Texas" if number in (2, 3, 10, 11) else "Cora"
    assert word in result.stdout


def test_sizes_are_counted_without_a_run(run):
    result = run("sizes", "--report", "--markdown", "--data", "physics", "--control", "sct")
    assert result.exit_code == 0
    assert "| Coauthor-Physics | GCN-SCT | 2 | 64 | 547,397 | 547,397 | 0 |" in result.stdout
    assert "Cora |" not in result.stdout


def test_times_are_measured(run, real, tmp_path, monkeypatch):
    from graphsct.paper import paper, times

    rows = [c for c in paper.tables()["time"].cells if (c.dataset, c.model) == ("texas", "gcn")]
    table = replace(paper.tables()["time"], cells=tuple(rows))
    monkeypatch.setattr(paper, "tables", lambda: {"time": table})
    result = run("time", "--seconds", 0.01, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr.count(" ms an epoch") == 2
    assert [cell["ours"] > 0 for cell in json.loads(result.stdout)["cells"]] == [True, True]
    assert times.read_times(table, tmp_path / "out")


def test_a_cell_that_fails_says_why(run, real, tmp_path):
    model = ModelConfig(depth=2, hidden=8, activation="leaky_relu")
    settings = CellSettings(model, TrainConfig(epochs=50, learning_rate=1e30))
    Cell(KEY, settings).write(tmp_path / "out")
    result = run(*CHOICE)
    assert result.exit_code == 1
    assert "texas-gcn-none-leaky_relu: failed: in epoch" in result.stderr


def test_ogbn_arxiv_is_left_out_where_it_is_not(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))
    result = run("table1", "--data", "arxiv", "--root", tmp_path)
    assert result.exit_code == 1
    assert "left out: 24 cells of Ogbn-arxiv" in result.stderr


def test_a_term_is_measured_once(run, real, tmp_path):
    model = ModelConfig(control="pooled", depth=2, hidden=8, activation="leaky_relu")
    settings = CellSettings(model, TrainConfig(epochs=5, select="val_score"))
    key = KEY._replace(control="pooled")
    Cell(key, settings).write(tmp_path / "out")
    Cell(key._replace(activation="relu"), settings, origin(of=key.name)).write(tmp_path / "out")
    result = run("term", "--data", "texas", "--model", "gcn", "--seeds", 2, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == "[1/1] texas-gcn-pooled-leaky_relu: measured\n"
    (cell,) = json.loads(result.stdout)["cells"]
    assert (cell["dataset"], cell["n"]) == ("texas", 2)
    again = run("term", "--report", "--model", "gcn")
    assert again.exit_code == 0 and again.stderr == ""
    assert "The effect of the learned term (ours, not in the paper)" in again.stdout
    assert run("term", "--report", "--model", "egnn").exit_code == 1


def test_a_term_that_fails_says_why(run, real, tmp_path):
    model = ModelConfig(control="pooled", depth=2, hidden=8)
    settings = CellSettings(model, TrainConfig(epochs=50, learning_rate=1e30))
    Cell(KEY._replace(control="pooled"), settings).write(tmp_path / "out")
    result = run("term", "--data", "texas")
    assert result.exit_code == 1
    assert "texas-gcn-pooled-leaky_relu: failed: in epoch" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("term", "--control", "none"), "leave no cell with SCT whose settings are known"),
        (("term", "--report"), "'graphsct reproduce term' measures it"),
        (("table12",), "the paper has no table 'table12'"),
        (("depth", "--data", "texas"), "these choices leave no cell of table 1 (depth)"),
        (("depth", "--workers", "2"), "workers is 2, but known settings need no search"),
        (("depth", "--ray", "auto"), "set the number of trials to search again, or leave it out"),
        (("depth", "--model", "gcnn"), "there is no model 'gcnn', did you mean 'gcn'?"),
    ],
)
def test_wrong_names_are_one_line(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
