import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from graphsct import __version__
from graphsct.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"graphsct {__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_the_commands(arguments):
    result = run(*arguments)
    for name in ("demo", "figure", "--debug", "--version"):
        assert name in result.output


def test_unknown_command_is_a_usage_error():
    result = run("figur")
    assert result.exit_code == 2
    assert "figur" in result.stderr


def test_figure_prints_what_it_wrote(tmp_path):
    result = run("figure", 1, "--out", tmp_path / "new", "--seed", 3)
    assert result.exit_code == 0
    expected = [str(tmp_path / "new" / f"figure1.{suffix}") for suffix in ("png", "svg", "csv")]
    assert result.stdout.splitlines() == expected
    assert sorted(str(path) for path in (tmp_path / "new").iterdir()) == sorted(expected)


def test_unknown_figure_is_one_line_that_lists_those_there_are(tmp_path):
    result = run("figure", 7, "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.fullmatch(r"graphsct: there is no figure 7; there is 1: .*; 2: .*\n", result.stderr)


def test_debug_lets_the_error_through(tmp_path):
    result = run("--debug", "figure", 7, "--out", tmp_path)
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "ExperimentError"


def test_missing_matplotlib_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("figure", 2, "--out", tmp_path)
    assert result.exit_code == 1
    message = 'graphsct: matplotlib is not installed; run: pip install "graphsct[plot]"\n'
    assert result.stderr == message


def test_a_file_where_the_folder_should_be_is_one_line(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    result = run("figure", 2, "--out", taken)
    assert result.exit_code == 1
    assert result.stderr == f"graphsct: {taken}: File exists\n"


@pytest.mark.parametrize("arguments", [("one",), (1, "--seed", "-1"), (1, "--seed", "x"), ()])
def test_bad_arguments_are_usage_errors(arguments):
    result = run("figure", *arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


def test_demo_reports_trains_draws_and_says_where(tmp_path):
    result = run("demo", "--out", tmp_path, "--seeds", 2, "--epochs", 3)
    assert result.exit_code == 0, result.output
    assert "What depth does" in result.stdout
    assert "What you can do" in result.stdout
    assert re.search(r"gives\s+0\.500000", result.stdout)
    names = {path.name for path in tmp_path.iterdir()}
    figures = {f"figure{k}.{suffix}" for k in (1, 2) for suffix in ("png", "svg", "csv")}
    figures |= {f"{k}.{suffix}" for k in ("accuracy", "curves") for suffix in ("png", "svg", "csv")}
    assert names == figures | {"report.json", "report.csv", "training"}
    for name in names:
        assert name in result.stdout
    assert f"Written to {tmp_path}, the runs to {tmp_path / 'training'}:" in result.stdout
    rows = re.findall(r"^validation (\w+) +(\d+)(?: +[-+\d.]+ ± [\d.]+){3}", result.stdout, re.M)
    assert rows == [(rule, depth) for rule in ("loss", "accuracy") for depth in ("2", "16")]
    again = run("demo", "--out", tmp_path, "--seeds", 2, "--epochs", 3)
    assert again.exit_code == 0, again.output


def command(*arguments):
    line = [sys.executable, "-m", "graphsct", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_python_m_graphsct_draws(tmp_path):
    result = command("figure", "2", "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "figure2.png").stat().st_size > 50_000
    assert result.stderr == ""


def test_python_m_graphsct_shows_a_traceback_when_asked():
    result = command("--debug", "figure", "0")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "ExperimentError: there is no figure 0" in result.stderr
