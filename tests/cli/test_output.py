import errno
import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphsct.cli import output
from graphsct.errors import MissingExtraError
from graphsct.pages.tables import Column, Table


@dataclass(frozen=True)
class Line:
    text: str


def test_prints_of_a_users_file_leave_json_alone(capsys):
    for as_json in (False, True):
        with output.diverted(as_json):
            print(f"json: {as_json}")
    assert capsys.readouterr() == ("json: False\n", "json: True\n")


def test_json_is_one_line_without_nan(capsys):
    output.print_json({"a": [1, None]})
    assert capsys.readouterr().out == '{"a": [1, null]}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        output.print_json({"a": float("nan")})


def test_files_are_lines_or_part_of_an_object(capsys):
    paths = [Path("a/b.png"), Path("c.csv")]
    output.print_files(paths, False, figure=1)
    assert capsys.readouterr().out.splitlines() == ["a/b.png", "c.csv"]
    output.print_files(paths, True, figure=1)
    assert json.loads(capsys.readouterr().out) == {"figure": 1, "files": ["a/b.png", "c.csv"]}


def test_a_table_that_is_too_wide_is_not_folded(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    column = Column("text", "{text:s}", right=False)
    part = Table("a part", (column,), (Line("below"),))
    output.print_table(Table("[b]title", (column,), (Line("word " * 12),), ("a note",), (part,)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "[b]title"
    assert any(line.strip() == ("word " * 12).strip() for line in lines)
    assert lines.index("a note") < lines.index("a part")


def test_a_file_without_its_extra_is_left_out(monkeypatch, capsys):
    assert output.available("page.html", "plotly", "report")
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert not output.available("page.html", "plotly", "report")
    said = 'page.html is left out: plotly is not installed; run: pip install "graphsct[report]"'
    assert capsys.readouterr().err == f"{said}\n"


def test_commands_print_what_the_library_logs(capsys):
    log = logging.getLogger("graphsct.search.progress")
    log.info("a library is silent")
    with output.logged():
        log.info("4/10 trials")
        log.debug("too much")
    log.info("and silent again")
    assert capsys.readouterr() == ("", "4/10 trials\n")


def test_names_are_printed_as_they_are(capsys):
    name = "s[/red] s[bold]x :snake:"
    output.terminal().print(name)
    assert capsys.readouterr().out == f"{name}\n"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MissingExtraError("plotly is not installed"), "plotly is not installed"),
        (OSError(errno.ENOSPC, "No space left on device", "a.html"), "a.html: No space left on"),
        (ValueError("math\ndomain error"), "ValueError: math domain error (unexpected; 'graphsct"),
    ],
)
def test_a_file_about_results_may_fail(capsys, error, expected):
    def write(debug):
        with output.beside_results("page.html", SimpleNamespace(find_root=lambda: root(debug))):
            raise error

    def root(debug):
        return SimpleNamespace(params={"debug": debug})

    write(debug=False)
    assert capsys.readouterr().err.startswith(f"page.html is left out: {expected}")
    with pytest.raises(type(error)):
        write(debug=True)
