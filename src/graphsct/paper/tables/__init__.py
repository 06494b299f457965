"""The paper's tables beside ours, as data: ``build(name)``."""

from __future__ import annotations

import os
from pathlib import Path

from graphsct.paper.cell import PACKAGED, read_cells
from graphsct.paper.paper import find_table
from graphsct.paper.paper import tables as paper_tables
from graphsct.paper.tables import accuracy, grid, sizes, statistics, term, times, tscores
from graphsct.paper.tables.table import Column, Row, Table
from graphsct.paper.term import read_terms

__all__ = ["TERM", "Column", "Row", "Table", "build", "names"]

#: The name of our own table, which the paper does not have.
TERM = "term"

_COUNTED = {"sizes": sizes.build, "grid": grid.build}


def names() -> list[str]:
    """The plain names of all tables: those of the paper, then ours."""
    return [*paper_tables(), TERM]


def build(
    name: str, *, cells: Path = PACKAGED, root: str | os.PathLike[str] | None = None
) -> Table:
    """One table of the paper with our side of it, or one of our own.

    Args:
        name: ``table1`` to ``table11``, a plain name such as ``depth``, or ``term``
        cells: folder of our cells, times and terms
        root: folder with the raw files of data sets, which the table of statistics counts

    Example:
        >>> table = build("sizes")
        >>> len(table.rows), {row["difference"] for row in table.rows}
        (30, {0})
    """
    if name == TERM:
        return term.build(read_terms(cells), read_cells(cells))
    table = find_table(name)
    if table.name in _COUNTED:
        return _COUNTED[table.name](table)
    if table.name == "statistics":
        return statistics.build(table, root)
    ours = read_cells(cells)
    if table.name in ("time", "time-best"):
        return times.build(table, {**read_cells(), **ours}, cells)  # what is timed, as by reproduce
    if table.name == "t-tests":
        return tscores.build(table, ours)
    return accuracy.build(table, ours)
