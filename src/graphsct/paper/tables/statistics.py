"""The table of data sets: what the paper counts, and what loads."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from graphsct.datasets.assemble import describe
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.load import is_here, load
from graphsct.paper.paper import DATASETS, PaperTable
from graphsct.paper.tables.table import Column, Table

__all__ = ["build"]

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("what", ("{quantity:s}",), right=False),
    Column("paper", ("{paper:,d}{mark:s}", "{paper:s}")),
    Column("ours", ("{ours:,d}", "{ours:s}", "not here")),
    Column("remark", ("{why:s}", "{counts:s}"), right=False),
)
_NOTES = ("Our edges are undirected, without self-loops.",)


def build(table: PaperTable, root: str | os.PathLike[str] | None = None) -> Table:
    """One row for each of the paper's counts; a data set is loaded if it is here.

    Args:
        table: of statistics
        root: folder with the raw files
    """
    counted = {name: _count(name, root) for name in DATASETS}
    rows = []
    for cell in table.cells:
        assert cell.dataset is not None
        entry, ours = CATALOG[cell.dataset], counted[cell.dataset].get(cell.quantity)
        counts = entry.paper.counts if entry.paper and cell.quantity == "edges" else None
        rows.append(
            {
                "dataset": cell.dataset,
                "data_title": DATASETS[cell.dataset],
                "quantity": cell.quantity,
                "paper": cell.value,
                "ours": ours,
                "right": cell.right,
                "why": cell.why,
                "mark": "*" if cell.why else "",
                "counts": None if counts is None else f"the paper counts {counts}",
                "missing": None if ours is not None else "its files are not here",
            }
        )
    return Table(table.title, _COLUMNS, tuple(rows), (*table.notes, *_NOTES), table)


def _count(name: str, root: str | os.PathLike[str] | None) -> dict[str, Any]:
    if not is_here(name, root):
        return {}  # never download for a table
    data = load(name, root)
    sizes = [int(mask.sum()) for mask in data.splits[0]]
    return {**asdict(describe(data)), "split": "/".join(f"{size:,}" for size in sizes)}
