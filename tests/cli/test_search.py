import json
import os
import signal
import sys

import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.search import figure
from graphsct.search.progress import SearchProgress

FAST = ("--depth", 2, "--max-hidden", 16, "--epochs", 12, "--trials", 5)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_it_prints_the_best_and_train_takes_it(out, tmp_path):
    result = run("search", *FAST, "--control", "pooled", "--out", out)
    assert result.exit_code == 0, result.output
    assert "5 trials of 2 runs" in result.stdout
    assert "best mean validation accuracy: " in result.stdout
    assert f"--config {out / 'best.json'}" in result.stdout
    assert result.stderr == ""
    names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    figures = {f"search.{suffix}" for suffix in ("png", "svg", "csv")}
    assert names == {"best.json", "trials.jsonl", "journal.jsonl"} | figures
    trained = run("train", "--config", out / "best.json", "--seeds", 2, "--out", tmp_path / "t")
    assert trained.exit_code == 0, trained.output
    best = json.loads((out / "best.json").read_text())
    config = json.loads((tmp_path / "t" / "config.json").read_text())
    assert config["model"] == best["model"]
    assert config["train"]["learning_rate"] == best["train"]["learning_rate"]
    assert config["data"]["normalize"] == best["normalize"]
    results = json.loads((tmp_path / "t" / "results.json").read_text())
    mean = sum(row["val_score"] for row in results["seeds"]) / 2
    assert mean == pytest.approx(best["score"], abs=1e-6)  # the same two seeds


def test_json_is_one_object_and_the_same_command_goes_on(out):
    line = ("search", *FAST, "--select", "val_loss", "--out", out, "--json")
    first = json.loads(run(*line).stdout)
    assert first["trials"] == 5
    assert first["task"]["select"] == first["train"]["select"] == "val_loss"
    more = json.loads(run(*line, "--trials", 7).stdout)
    assert more["trials"] == 7
    assert more["score"] <= first["score"]


def test_a_figure_that_fails_leaves_the_result(out, monkeypatch):
    def fail(*args):
        raise ValueError("offset must be less than a day")

    monkeypatch.setattr(figure, "write_search", fail)
    result = run("search", *FAST, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("the figure is left out: ValueError: offset must be less")
    assert "best mean" in result.stdout


@pytest.mark.parametrize("name", ["s[/red]", "s[bold]x", ":snake:"])
def test_the_folder_is_printed_as_it_is(tmp_path, name):
    result = run("search", *FAST, "--out", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert f"Written to {tmp_path / name};" in result.stdout


def test_finalists_are_told(out):
    result = run("search", *FAST, "--finalists", 2, "--device", "cpu", "--out", out)
    assert result.exit_code == 0, result.output
    assert "the best 2 had 10 runs each\n" in result.stdout
    best = json.loads((out / "best.json").read_text())
    assert best["finalists"] == 2


def test_ctrl_c_says_how_to_go_on(out, monkeypatch):
    def press(self, study):
        if study.counts().trials == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SearchProgress, "__call__", press)
    result = run("search", *FAST, "--out", out)
    assert result.exit_code == 130
    assert result.stderr == f"interrupted: the same command continues in {out}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gnc"), "there is no model 'gnc', did you mean 'gcn'?"),
        (("--data", "coar"), "cora"),
        (("--select", "test"), "select is 'test'"),
        (("--activation", "relo"), "did you mean 'relu'?"),
        (("--epochs", 0), "epochs is 0, expected at least 1"),
        (("--device", "cdua"), "device is 'cdua', which is not available here"),
        (("--patience", 0), "patience is 0, expected at least 1"),
        (("--seconds", "nan"), "seconds is nan, expected a number of at least 0"),
    ],
)
def test_wrong_settings_are_one_line_and_leave_no_folder(out, arguments, message):
    result = run("search", *FAST, *arguments, "--out", out)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("module", ["optuna", "matplotlib"])
def test_a_missing_package_is_one_line(out, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    result = run("search", *FAST, "--out", out)
    assert result.exit_code == 1
    message = f'graphsct: {module} is not installed; run: pip install "graphsct[search]"\n'
    assert result.stderr == message
    assert not out.exists()


def test_a_database_needs_its_driver(out, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    result = run("search", *FAST, "--database", "postgresql://me@host/mine", "--out", out)
    assert result.exit_code == 1
    assert result.stderr == (
        'graphsct: psycopg is not installed; run: pip install "graphsct[postgres]"\n'
    )
    assert not out.exists()
