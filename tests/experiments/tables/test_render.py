from rich.console import Console

from graphsct.experiments.tables import Column, Table, build
from graphsct.experiments.tables.render import to_markdown, to_rich

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


def test_the_terminal_shows_all_as_it_is():
    console = Console(width=100)
    with console.capture() as captured:
        for part in to_rich(TABLE):
            console.print(part)
    text = captured.get()
    for piece in ("some [bold] title", "a|b [red]", "a note", "part", " 7 "):
        assert piece in text


def test_a_long_table_has_sections(tmp_path):
    _, grid, *_ = to_rich(build("depth", cells=tmp_path))
    ends = [place for place, row in enumerate(grid.rows) if row.end_section]
    assert ends == list(range(7, 119, 8))
