"""A table for the terminal, and as Markdown."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

from graphsct.paper.tables.table import Table

if TYPE_CHECKING:
    from rich.table import Table as Grid

_WIDEST = 1000

__all__ = ["heading", "show", "to_markdown"]


def heading(table: Table) -> str:
    """Its number and title.

    Example:
        >>> from graphsct.paper.tables import build
        >>> heading(build("grid"))
        'Table 7 (grid): Search grid'
    """
    if table.paper is None:
        return table.title
    unit = f", {table.paper.unit}" if table.paper.unit not in ("", "t") else ""
    return f"Table {table.paper.number} ({table.paper.name}): {table.title}{unit}"


def show(table: Table) -> None:
    """Print a table, its notes and its parts."""
    from rich.console import Console
    from rich.markup import escape

    console, grid = Console(highlight=False), _grid(table)
    console.print(f"[bold]{escape(heading(table))}[/]")
    # Folded columns cannot be read, lines that are too long for a terminal can.
    whole = Console(width=_WIDEST).measure(grid).maximum
    Console(highlight=False, width=max(console.width, whole)).print(grid)
    console.print()
    for note in table.notes:
        console.print(escape(note))
    for part in table.parts:
        console.print()
        show(part)


def _grid(table: Table) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for column in table.columns:
        title = textwrap.fill(column.title, 11)
        grid.add_column(title, justify="right" if column.right else "left")
    ends = _ends(table)
    for place, row in enumerate(table.rows):
        texts = (escape(column.show(row)) for column in table.columns)
        grid.add_row(*texts, end_section=place in ends)
    return grid


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
