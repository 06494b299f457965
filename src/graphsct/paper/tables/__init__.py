"""The tables of the paper beside ours: each is one object in one module of this folder."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from graphsct.extras import stored_results
from graphsct.pages.tables import Table
from graphsct.paper.paper import find_table
from graphsct.paper.paper import tables as paper_tables
from graphsct.paper.tables.experiment import Experiment

__all__ = ["build", "experiments", "find"]


@cache
def experiments() -> dict[str, Experiment]:
    """Return all experiments by name: those of the paper in its order, then ours.

    Every module of this folder is searched for a tuple ``EXPERIMENTS``.
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [one for module in modules for one in getattr(module, "EXPERIMENTS", ())]
    order = list(paper_tables())
    found.sort(key=lambda one: order.index(one.name) if one.name in order else len(order))
    return {one.name: one for one in found}


def find(name: str) -> Experiment:
    """Return an experiment by its name, or by its number in the paper.

    Example:
        >>> find("table1").name, find("term").name
        ('depth', 'term')
    """
    known = experiments()
    return known[name] if name in known else known[find_table(name).name]


def build(
    name: str, *, cells: Path | None = None, root: str | os.PathLike[str] | None = None
) -> Table[Any]:
    """Build a table with the paper's numbers and ours.

    Args:
        name: ``table1`` to ``table11``, a plain name such as ``depth``, or ``term``
        cells: folder of our cells, times and terms; by default the stored results
        root: folder with the raw files of data sets, which the table of data sets counts

    Example:
        >>> table = build("sizes")
        >>> len(table.rows), {row.difference for row in table.rows}
        (30, {0})
    """
    return find(name).build(cells or stored_results("paper"), root)
