"""The table of data sets: the paper's counts beside those of the data we load."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphsct.datasets.assemble import describe
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.load import is_here, load
from graphsct.pages.tables import Column, Field, Table
from graphsct.paper.paper import DATASETS
from graphsct.paper.tables.experiment import PaperExperiment, Root
from graphsct.paper.tables.rows import DATA

__all__ = ["EXPERIMENTS", "CountRow", "DataSets"]


@dataclass(frozen=True, kw_only=True)
class CountRow:
    """One count of a data set, or its split.

    Args:
        dataset: our name of the data set
        data_title: title of the data set
        quantity: what is counted
        paper: as printed
        ours: in the data we load, ``None`` if its files are missing
        right: the right number of a misprint, if it is known
        why: what is wrong with the printed number
        mark: an asterisk for a misprint
        counts: how the paper counts edges
        missing: why we have no count
    """

    dataset: str
    data_title: str
    quantity: str
    paper: float | str | None
    ours: float | str | None
    right: float | None
    why: str | None
    mark: str
    counts: str | None
    missing: str | None


def _ours(row: CountRow) -> str | Field:
    if row.ours is None:
        return Field("not here", "missing", long=row.missing or "")
    return row.ours if isinstance(row.ours, str) else f"{row.ours:,d}"


_COLUMNS: tuple[Column[CountRow], ...] = (
    DATA,
    Column("what", "{quantity:s}", right=False),
    Column("paper", ("{paper:,d}{mark:s}", "{paper:s}")),
    Column("ours", _ours),
    Column("remark", ("{why:s}", "{counts:s}"), right=False),
)
_NOTES = ("Our edges are undirected, without self-loops.",)


class DataSets(PaperExperiment):
    """One row for each of the paper's counts."""

    def build(self, cells: Path, root: Root) -> Table[CountRow]:
        """Count the data sets whose files exist; nothing is downloaded."""
        counted = {name: _count(name, root) for name in DATASETS}
        rows = []
        for cell in self.printed.cells:
            assert cell.dataset is not None
            entry, ours = CATALOG[cell.dataset], counted[cell.dataset].get(cell.quantity)
            counts = entry.paper.counts if entry.paper and cell.quantity == "edges" else None
            rows.append(
                CountRow(
                    dataset=cell.dataset,
                    data_title=DATASETS[cell.dataset],
                    quantity=cell.quantity,
                    paper=cell.value,
                    ours=ours,
                    right=cell.right,
                    why=cell.why,
                    mark="*" if cell.why else "",
                    counts=None if counts is None else f"the paper counts {counts}",
                    missing=None if ours is not None else "its files are missing",
                )
            )
        return self.table(_COLUMNS, rows, _NOTES, sections=("dataset",))


EXPERIMENTS = (DataSets("statistics"),)


def _count(name: str, root: Root) -> dict[str, Any]:
    if not is_here(name, root):
        return {}
    data = load(name, root)
    sizes = [int(mask.sum()) for mask in data.splits[0]]
    return {**asdict(describe(data)), "split": "/".join(f"{size:,}" for size in sizes)}
