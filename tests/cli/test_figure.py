import json
import re

import pytest
from typer.testing import CliRunner

from graphsct.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["figure", *map(str, arguments)])


def test_figure_prints_what_it_wrote(tmp_path):
    result = run(1, "--out", tmp_path / "new", "--seed", 3)
    assert result.exit_code == 0
    expected = [str(tmp_path / "new" / f"figure1.{suffix}") for suffix in ("png", "svg", "csv")]
    assert result.stdout.splitlines() == expected
    assert sorted(str(path) for path in (tmp_path / "new").iterdir()) == sorted(expected)
    result = run(1, "--out", tmp_path / "new", "--json")
    assert json.loads(result.stdout) == {"figure": 1, "files": expected}


def test_unknown_figure_is_one_line_that_lists_those_there_are(tmp_path):
    result = run(7, "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stdout == ""
    line = r"graphsct: there is no figure 7; choose from 1: .*; 2: .*\n"
    assert re.fullmatch(line, result.stderr)


@pytest.mark.parametrize("arguments", [("one",), (1, "--seed", "-1"), (1, "--seed", "x"), ()])
def test_bad_arguments_are_usage_errors(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
