from graphsct.paper.tables import Column, Table, build
from graphsct.paper.tables.render import show, to_markdown

TABLE = Table(
    "some [bold] title",
    (Column("name", ("{name:s}",), right=False), Column("n", ("{n:d}",))),
    ({"name": "a|b [red]", "n": 3}, {"name": "c", "n": None}),
    ("a note", "* another"),
    parts=(Table("part", (Column("n", ("{n:d}",)),), ({"n": 7},)),),
)


def test_markdown():
    assert to_markdown(TABLE) == (
        "## some [bold] title\n\n"
        "| name | n |\n| --- | ---: |\n| a\\|b [red] | 3 |\n| c |  |\n\n"
        "- a note\n- another\n\n"
        "### part\n\n| n |\n| ---: |\n| 7 |"
    )


def test_the_terminal_shows_all_as_it_is_however_narrow(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "9")
    show(TABLE)
    lines = capsys.readouterr().out.splitlines()
    assert "a|b [red]  3" in [line.rstrip() for line in lines]
    for piece in ("a note", "* another", "part", "7"):
        assert piece in [line.rstrip() for line in lines]


def test_a_long_table_has_sections(tmp_path, capsys):
    show(build("depth", cells=tmp_path))
    lines = capsys.readouterr().out.splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith("Cora ")]
    assert len(starts) == 3 * 8 + 8  # the yardsticks, too
    assert lines[starts[7] + 1].strip() == "" and starts[8] == starts[7] + 2
