"""The tables of times of an epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Cell
from graphsct.paper.paper import PaperCell
from graphsct.paper.tables.experiment import PaperExperiment, Request, Root
from graphsct.paper.tables.rows import DATA, MODEL, PrintedRow
from graphsct.paper.times import EpochTime, find_time, measure_times, read_times

__all__ = ["EXPERIMENTS", "EpochTimes", "TimeRow"]

_MILLISECONDS = {"epoch_seconds": 1e3, "epoch_centiseconds": 10.0}
_SECONDS = 20.0  # of measuring, for each data set and model


@dataclass(frozen=True, kw_only=True)
class TimeRow(PrintedRow):
    """The time of an epoch in milliseconds; ``None`` if it was not measured.

    Args:
        paper: as printed
        ours: time of our engine
        pyg: time of PyTorch Geometric, in the faster of two forms
        our_depth: number of layers
        our_hidden: number of channels
        missing: why we have no time
        paper_cost: time with SCT over time without, in the paper
        our_cost: time with SCT over time without, in our measurements
    """

    paper: float
    ours: float | None = None
    pyg: float | None = None
    our_depth: int | None = None
    our_hidden: int | None = None
    missing: str | None = "not measured yet"
    paper_cost: float | None = None
    our_cost: float | None = None


_COLUMNS: tuple[Column[TimeRow], ...] = (
    DATA,
    MODEL,
    Column("layers", "{our_depth:d}"),
    Column("channels", "{our_hidden:d}"),
    Column("ms, paper", "{paper:.0f}"),
    Column("ms, ours", ("{ours:.2f}", "not measured")),
    Column("ms, PyG", "{pyg:.2f}"),
    Column("SCT costs, paper", "{paper_cost:.2f}x"),
    Column("SCT costs, ours", "{our_cost:.2f}x"),
)
_NOTES = (
    "We measured our times and PyTorch Geometric's in turns in one process on a CPU. The paper's "
    "come from a GPU, so only the cost of SCT is comparable: the time with it over that without.",
)


class EpochTimes(PaperExperiment):
    """One row for each of the paper's times."""

    def build(self, cells: Path, root: Root) -> Table[TimeRow]:
        """Build the table; the best models have the depth and width of their cells."""
        printed = self.printed
        known, measured = {**Cell.read_all(), **Cell.read_all(cells)}, read_times(printed, cells)
        rows = [_row(cell, find_time(cell, known, measured)) for cell in printed.cells]
        bases = {(row.dataset, row.model): row for row in rows if not row.sct}
        return self.table(_COLUMNS, [_with_cost(row, bases) for row in rows], _NOTES)

    def run(self, request: Request) -> bool:
        """Measure the missing times, and report each."""
        limit = _SECONDS if request.seconds is None else request.seconds
        cells = {**Cell.read_all(), **Cell.read_all(request.out)}
        for row in measure_times(
            self.printed, cells, load=request.load, out=request.out, seconds=limit
        ):
            request.say(f"{row.name}: {row.ours_ms:.2f} ms an epoch")
        return True


EXPERIMENTS = (EpochTimes("time"), EpochTimes("time-best"))


def _row(cell: PaperCell, found: EpochTime | None) -> TimeRow:
    row = TimeRow.of(cell, paper=round(float(cell.value or 0) * _MILLISECONDS[cell.quantity], 6))
    if found is None:
        return row
    return replace(
        row,
        ours=found.ours_ms,
        pyg=min(found.pyg_edge_index_ms, found.pyg_sparse_ms),
        our_depth=found.case.layers,
        our_hidden=found.case.width,
        missing=None,
    )


def _with_cost(row: TimeRow, bases: Mapping[tuple[str, str], TimeRow]) -> TimeRow:
    """Fill in the cost of SCT, if the row has SCT."""
    if not row.sct:
        return row
    base = bases[row.dataset, row.model]
    ours = row.ours / base.ours if row.ours and base.ours else None
    return replace(row, paper_cost=row.paper / base.paper, our_cost=ours)
