"""The table of t-scores: SCT against its base."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

from graphsct.paper.cell import Cell, Key
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.plan import base_of, key_of
from graphsct.paper.tables.accuracy import gains, heading, misprints
from graphsct.paper.tables.table import Column, Table

__all__ = ["build"]

_RUNS = 100

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("model", ("{model_title:s}",), right=False),
    Column("layers", ("{depth:d}",)),
    Column("t, paper", ("{paper:.2f}{mark:s}",)),
    Column(f"t for {_RUNS} runs, ours", ("{t_of_100:.2f}", "not run")),
    Column("Welch's t, ours", ("{ours:.2f}",)),
    Column("n", ("{n:d}",)),
    Column("SCT gains, %", ("{gain[mean]:+z.1f}",)),
    Column("95% interval", ("[{gain[low]:+z.1f}, {gain[high]:+z.1f}]",)),
    Column("p", ("{gain[p_holm]:.2g}",)),
    Column("SCT", ("{gain[verdict]:s}",), right=False),
)
_NOTES = (
    "Welch's t grows with the square root of the number of runs. For the paper's own number of "
    f"{_RUNS}, its formula is filled with our means and deviations.",
    "p: of Welch's test over our n runs with SCT and as many without, two-sided, by Holm's "
    "correction over all comparisons of the table.",
)


def build(table: PaperTable, cells: Mapping[Key, Cell]) -> Table:
    """One row for each of the paper's scores."""
    found = gains(table, cells)
    rows = []
    for cell in table.cells:
        gain = found.get(key_of(cell))
        rows.append(
            {
                **heading(cell),
                "cell": key_of(cell).name,
                "paper": cell.value,
                "ours": None if gain is None else gain["t"],
                "t_of_100": None if gain is None else _score(*_pair(cell, cells)),
                "std": None,
                "n": 0 if gain is None else min(map(len, _pair(cell, cells))),
                "gain": gain,
                "missing": None if gain is not None else "nobody has run it yet",
            }
        )
    notes = (*table.notes, *_NOTES, *misprints(table.cells))
    return Table(table.title, _COLUMNS, tuple(rows), notes, table)


def _pair(cell: PaperCell, cells: Mapping[Key, Cell]) -> tuple[list[float], list[float]]:
    key = key_of(cell)
    return cells[key].accuracies(), cells[base_of(key)].accuracies()


def _score(ours: list[float], others: list[float]) -> float | None:
    """The paper's formula for its own number of runs."""
    mean = statistics.fmean(ours) - statistics.fmean(others)
    square = (statistics.variance(ours) + statistics.variance(others)) / _RUNS
    return mean / math.sqrt(square) if square else None
