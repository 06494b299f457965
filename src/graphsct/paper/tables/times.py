"""The tables of times of an epoch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from graphsct.paper.cell import Cell, Key
from graphsct.paper.paper import PaperTable
from graphsct.paper.tables.accuracy import heading
from graphsct.paper.tables.table import Column, Table
from graphsct.paper.times import find_time, read_times

__all__ = ["build"]

_MILLISECONDS = {"epoch_seconds": 1e3, "epoch_centiseconds": 10.0}

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("model", ("{model_title:s}",), right=False),
    Column("layers", ("{our_depth:d}",)),
    Column("channels", ("{our_hidden:d}",)),
    Column("ms, paper", ("{paper:.0f}",)),
    Column("ms, ours", ("{ours:.2f}", "not measured")),
    Column("ms, PyG", ("{pyg:.2f}",)),
    Column("SCT costs, paper", ("{paper_cost:.2f}x",)),
    Column("SCT costs, ours", ("{our_cost:.2f}x",)),
)
_NOTES = (
    "Ours and PyTorch Geometric's were measured in turns in one process on a CPU; the paper's are "
    "of a GPU, so that only the cost of SCT compares: time with it over time without.",
)


def build(table: PaperTable, cells: Mapping[Key, Cell], folder: Path) -> Table:
    """One row for each of the paper's times, in milliseconds.

    Args:
        table: of times
        cells: whose settings say how deep and wide the most accurate models are
        folder: of the cells, where the times are, too
    """
    measured = read_times(table, folder)
    rows = []
    for cell in table.cells:
        found = find_time(cell, cells, measured)
        row = {
            **heading(cell),
            "paper": round(float(cell.value or 0) * _MILLISECONDS[cell.quantity], 6),
            "ours": None,
            "pyg": None,
            "our_depth": None,
            "our_hidden": None,
            "missing": "nobody has measured it yet",
        }
        if found is not None:
            theirs = min(found["pyg_edge_index_ms"], found["pyg_sparse_ms"])
            row |= {"ours": found["ours_ms"], "pyg": theirs, "missing": None}
            row |= {"our_depth": found["layers"], "our_hidden": found["width"]}
        rows.append(row)
    base = {(row["dataset"], row["model"]): row for row in rows if not row["sct"]}
    for row in rows:
        other = base[row["dataset"], row["model"]]
        row["paper_cost"] = row["paper"] / other["paper"] if row["sct"] else None
        both = row["sct"] and row["ours"] and other["ours"]
        row["our_cost"] = row["ours"] / other["ours"] if both else None
    return Table(table.title, _COLUMNS, tuple(rows), (*table.notes, *_NOTES), table)
