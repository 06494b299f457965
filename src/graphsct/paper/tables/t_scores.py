"""The table of t-scores: SCT against its base."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Cell, Key
from graphsct.paper.keys import base_of, key_of
from graphsct.paper.paper import PaperCell
from graphsct.paper.tables.accuracy import gains
from graphsct.paper.tables.experiment import Root, TrainedExperiment
from graphsct.paper.tables.rows import DATA, MODEL, Gain, PrintedRow, judged, misprints

__all__ = ["EXPERIMENTS", "TScoreRow", "TScores"]

_RUNS = 100


@dataclass(frozen=True, kw_only=True)
class TScoreRow(PrintedRow):
    """A score of the paper and ours.

    Args:
        cell: name of our cell with SCT
        paper: as printed
        ours: Welch's t of our runs
        t_of_100: the paper's formula for its own number of runs, with our means and deviations
        std: ``None``, because a score has no deviation
        n: number of runs of the smaller side
        gain: SCT against its base
        missing: why we have no score
    """

    cell: str
    paper: float
    ours: float | None
    t_of_100: float | None
    std: None
    n: int
    gain: Gain | None
    missing: str | None


_COLUMNS: tuple[Column[TScoreRow], ...] = (
    DATA,
    MODEL,
    Column("layers", "{depth:d}"),
    Column("t, paper", "{paper:.2f}{mark:s}"),
    Column(f"t for {_RUNS} runs, ours", ("{t_of_100:.2f}", "not run")),
    Column("Welch's t, ours", "{ours:.2f}"),
    Column("n", "{n:d}"),
    Column("SCT gains, %", "{gain.mean:+z.1f}"),
    Column("95% interval", "[{gain.low:+z.1f}, {gain.high:+z.1f}]"),
    Column("p", "{gain.p_holm:.2g}"),
    Column("SCT", lambda row: judged(row.gain.verdict if row.gain else None), right=False),
)
_NOTES = (
    "Welch's t grows with the square root of the number of runs. So we also apply the paper's "
    f"formula, for its {_RUNS} runs, to our means and deviations.",
    "p: the two-sided p value of Welch's test over our n runs with SCT and as many without, with "
    "Holm's correction over all comparisons of the table.",
)


class TScores(TrainedExperiment):
    """One row for each of the paper's scores."""

    def build(self, cells: Path, root: Root) -> Table[TScoreRow]:
        """Build the table from the cells of the tables of accuracies."""
        printed, ours = self.printed, Cell.read_all(cells)
        found = gains(printed, ours)
        rows = [_row(cell, ours, found.get(key_of(cell))) for cell in printed.cells]
        return self.table(_COLUMNS, rows, (*_NOTES, *misprints(printed.cells)))


EXPERIMENTS = (TScores("t-tests"),)


def _row(cell: PaperCell, cells: Mapping[Key, Cell], gain: Gain | None) -> TScoreRow:
    key = key_of(cell)
    runs = [cells[side].accuracies() for side in (key, base_of(key))] if gain else [[], []]
    return TScoreRow.of(
        cell,
        cell=key.name,
        paper=cell.value,
        ours=None if gain is None else gain.t,
        t_of_100=None if gain is None else _score(*runs),
        std=None,
        n=min(map(len, runs)),
        gain=gain,
        missing=None if gain is not None else "not run yet",
    )


def _score(ours: list[float], others: list[float]) -> float | None:
    """The paper's formula for its own number of runs."""
    mean = statistics.fmean(ours) - statistics.fmean(others)
    square = (statistics.variance(ours) + statistics.variance(others)) / _RUNS
    return mean / math.sqrt(square) if square else None
