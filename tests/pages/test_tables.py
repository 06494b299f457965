from dataclasses import dataclass

import pytest

from graphsct.cli.output import print_table
from graphsct.pages.tables import Column, Field, Table


@dataclass(frozen=True)
class Inner:
    mean: float


@dataclass(frozen=True)
class Line:
    name: str = ""
    n: int | str | None = None
    inner: Inner | None = None


NAME, NUMBER = Column("name", "{name:s}", right=False), Column("n", "{n:d}")
TABLE = Table(
    "some [bold] title",
    (NAME, NUMBER),
    (Line("a|b [red]", 3), Line("c")),
    ("a note", "* another"),
    parts=(Table("part", (NUMBER,), (Line("d", 7),)),),
)


def test_the_first_template_that_fits_counts():
    column = Column("n", ("{n:d}", "{n:s}", "none"))
    assert [column.text(Line(n=n)) for n in (3, "x", None)] == ["3", "x", "none"]


def test_an_attribute_of_none_leaves_a_cell_empty_but_a_misspelt_one_is_an_error():
    column = Column("mean", "{inner.mean:+.1f}")
    assert column.text(Line(inner=Inner(1.25))) == "+1.2"
    assert column.text(Line()) == ""
    with pytest.raises(AttributeError, match="maen"):
        Column("mean", "{inner.maen:+.1f}").text(Line(inner=Inner(1.25)))
    with pytest.raises(AttributeError, match="iner"):
        Column("mean", "{iner.mean:+.1f}").text(Line())


def test_a_function_may_return_a_text_or_a_field():
    assert Column("n", lambda row: f"<{row.n}>").field(Line(n=3)) == Field("<3>")
    worse = Field("bad", "worse", "▼")
    assert Column("n", lambda row: worse).field(Line()) is worse


def test_some_rows_of_a_table_and_its_parts():
    (part,) = TABLE.parts
    few = TABLE.only(lambda row: row.n == 7)
    assert (few.rows, few.parts) == ((), (part,))
    assert TABLE.only(lambda row: row.n == 3).parts == ()


def test_plain_values_with_the_rows_as_cells():
    table = Table("title", (NUMBER,), (Line("a", 1, Inner(2.0)),), ("note",), about={"unit": "%"})
    assert table.to_dict() == {
        "title": "title",
        "unit": "%",
        "cells": [{"name": "a", "n": 1, "inner": {"mean": 2.0}}],
        "notes": ["note"],
        "parts": [],
    }


def test_markdown():
    assert TABLE.to_markdown() == (
        "## some [bold] title\n\n"
        "| name | n |\n| --- | ---: |\n| a\\|b [red] | 3 |\n| c |  |\n\n"
        "- a note\n- another\n\n"
        "### part\n\n| n |\n| ---: |\n| 7 |"
    )


def test_the_terminal_shows_all_as_it_is_however_narrow(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "9")
    print_table(TABLE)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    for piece in ("a|b [red]  3", "a note", "* another", "part", "7"):
        assert piece in lines


def test_sections_begin_where_a_name_changes():
    rows = tuple(Line(name, n) for name in "ab" for n in (1, 1, 2, 2, 2))
    table = Table("title", (NAME, NUMBER), rows, sections=("name", "n"))
    assert table.starts() == {2, 5, 7}


@pytest.mark.parametrize(("length", "gaps"), [(4, 1), (3, 0)])
def test_the_terminal_separates_long_sections_only(capsys, length, gaps):
    rows = tuple(Line(name, n) for name in "ab" for n in range(length))
    print_table(Table("title", (NAME, NUMBER), rows, sections=("name", "n")))
    lines = capsys.readouterr().out.splitlines()
    first, last = (
        next(i for i in order if lines[i].startswith(name))
        for name, order in (("a", range(len(lines))), ("b", range(len(lines) - 1, 0, -1)))
    )
    assert sum(not line.strip() for line in lines[first:last]) == gaps


def test_in_a_notebook_and_as_text():
    column = Column("con-\ntrast", "{n:d}")
    table = Table("a <title>", (NAME, column), (Line("<i>", 3),), ("a & b",))
    html = table._repr_html_()
    for part in ("a &lt;title&gt;", "&lt;i&gt;", "a &amp; b", ">contrast<"):
        assert part in html
    lines = str(table).splitlines()
    assert (lines[0], lines[-1]) == ("a <title>", "a & b")
    assert lines[-2].split() == ["<i>", "3"]
    assert "| name | contrast |" in table.to_markdown()
    assert str(TABLE).endswith(str(TABLE.parts[0]))
    assert TABLE._repr_html_().endswith(TABLE.parts[0]._repr_html_())
