"""The paper's tables beside ours, as data: ``build(name)``."""

from __future__ import annotations

import os
from pathlib import Path

from graphsct.experiments.cell import PACKAGED, read_cells
from graphsct.experiments.paper import find_table
from graphsct.experiments.tables import accuracy, grid, sizes, statistics, times, tscores
from graphsct.experiments.tables.table import Column, Row, Table

__all__ = ["Column", "Row", "Table", "build"]

_COUNTED = {"sizes": sizes.build, "grid": grid.build}


def build(
    name: str, *, cells: Path = PACKAGED, root: str | os.PathLike[str] | None = None
) -> Table:
    """One table of the paper with our side of it.

    Args:
        name: ``table1`` to ``table11``, or a plain name such as ``depth``
        cells: folder of our cells and times
        root: folder with the raw files of data sets, which the table of statistics counts

    Example:
        >>> table = build("sizes")
        >>> len(table.rows), {row["difference"] for row in table.rows}
        (30, {0})
    """
    table = find_table(name)
    if table.name in _COUNTED:
        return _COUNTED[table.name](table)
    if table.name == "statistics":
        return statistics.build(table, root)
    ours = read_cells(cells)
    if table.name in ("time", "time-best"):
        return times.build(table, ours, cells)
    if table.name == "t-tests":
        return tscores.build(table, ours)
    return accuracy.build(table, ours)
