"""A table for the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from graphsct.experiments.tables.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["heading", "to_markdown", "to_rich"]


def heading(table: Table) -> str:
    """Its number and title.

    Example:
        >>> from graphsct.experiments.tables import build
        >>> heading(build("grid"))
        'Table 7 (grid): Search grid'
    """
    if table.paper is None:
        return table.title
    unit = f", {table.paper.unit}" if table.paper.unit not in ("", "t") else ""
    return f"Table {table.paper.number} ({table.paper.name}): {table.title}{unit}"


def to_rich(table: Table) -> Iterator[RenderableType]:
    """What a Rich console prints, the parts after the table itself."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in table.columns:
        grid.add_column(column.title, justify="right" if column.right else "left")
    ends = _ends(table)
    for place, row in enumerate(table.rows):
        texts = (escape(column.show(row)) for column in table.columns)
        grid.add_row(*texts, end_section=place in ends)
    yield f"[bold]{escape(heading(table))}[/]"
    yield grid
    yield from (escape(note) for note in table.notes)
    for part in table.parts:
        yield ""
        yield from to_rich(part)


def _ends(table: Table) -> set[int]:
    """The last rows of sections: of a model on a data set, or of a data set; none if too short."""
    for names in (("dataset", "model"), ("dataset",)):
        places = [tuple(row.get(name) for name in names) for row in table.rows]
        ends = {place for place, pair in enumerate(pairwise(places)) if pair[0] != pair[1]}
        if 4 * (len(ends) + 1) <= len(places):
            return ends
    return set()


def to_markdown(table: Table, level: int = 2) -> str:
    """The table under a heading, its notes as a list, then its parts."""
    lines = [f"{'#' * level} {heading(table)}", ""]
    lines.append(_line([column.title for column in table.columns]))
    lines.append(_line(["---:" if column.right else "---" for column in table.columns]))
    lines += [_line([column.show(row) for column in table.columns]) for row in table.rows]
    lines += ["", *(f"- {note.removeprefix('* ')}" for note in table.notes)]
    parts = [to_markdown(part, level + 1) for part in table.parts]
    return "\n\n".join(["\n".join(lines).rstrip(), *parts])


def _line(texts: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"
