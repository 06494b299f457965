"""Time of an epoch for the paper's tables of times, measured by :mod:`graphsct.training.bench`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.files import write_json
from graphsct.paper.cell import Cell, Key
from graphsct.paper.keys import key_of
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.reproduce import Loader, command
from graphsct.records import Record
from graphsct.training.bench import Case, measure_data
from graphsct.training.run import versions

__all__ = ["EpochTime", "Times", "find_time", "measure_times", "read_times"]

_HIDDEN = 16


@dataclass(frozen=True)
class EpochTime(Record, flat=("case",), strict=True):
    """The time of an epoch, in milliseconds.

    Args:
        case: the data set and the model
        control: control of the model
        ours_ms: our engine
        pyg_edge_index_ms: PyTorch Geometric, with a list of edges
        pyg_sparse_ms: PyTorch Geometric, with a sparse matrix
        limit_ms: the matrix products and activations alone
    """

    case: Case
    control: str | None
    ours_ms: float
    pyg_edge_index_ms: float
    pyg_sparse_ms: float
    limit_ms: float

    @property
    def name(self) -> str:
        """The data set, the model and its control."""
        return f"{self.case.data}-{self.case.model}-{self.control or 'none'}"


@dataclass(frozen=True)
class Times(Record, error=ExperimentError):
    """The measured times of a table.

    Args:
        command: command that measures them
        versions: versions of the software
        rows: one per data set, model and control
    """

    command: str
    versions: dict[str, Any]
    rows: tuple[EpochTime, ...]


_MEASURED = [field.name for field in fields(EpochTime)][1:]


def measure_times(
    table: PaperTable,
    cells: Mapping[Key, Cell],
    *,
    load: Loader,
    out: Path,
    seconds: float = 20.0,
) -> Iterator[EpochTime]:
    """Measure the times of a table, one row after another; the file is rewritten after each.

    Args:
        table: a table of times; the most accurate models are timed only if they have cells
        cells: our cells, with the depth and width of the most accurate models
        load: function that loads data by name
        out: folder of cells; the file goes into its folder ``times``
        seconds: time for each data set and model
    """
    rows = read_times(table, out)
    wanted: dict[Case, list[str | None]] = {}
    for cell in table.cells:
        case, control = _case(cell, cells), key_of(cell).control
        if case is not None and not _find(rows, case, control):
            wanted.setdefault(case, []).append(control)
    made_by = command(f"reproduce table{table.number}", seconds=seconds)
    for case, controls in wanted.items():
        for found in measure_data(case, load(case.data, False), seconds=seconds, repeats=200):
            if found["control"] in controls:
                row = EpochTime(case, **{name: found[name] for name in _MEASURED})
                rows.append(row)
                write_json(_path(table, out), Times(made_by, versions(), tuple(rows)).to_dict())
                yield row


def find_time(
    cell: PaperCell, cells: Mapping[Key, Cell], rows: Sequence[EpochTime]
) -> EpochTime | None:
    """The row of a cell of the paper, if it was measured."""
    return _find(rows, _case(cell, cells), key_of(cell).control)


def _find(rows: Sequence[EpochTime], case: Case | None, control: str | None) -> EpochTime | None:
    return next((row for row in rows if (row.case, row.control) == (case, control)), None)


def read_times(table: PaperTable, folder: Path) -> list[EpochTime]:
    """The measured rows, none if nothing was measured."""
    path = _path(table, folder)
    return list(Times.from_file(path, "has no times").rows) if path.is_file() else []


def _case(cell: PaperCell, cells: Mapping[Key, Cell]) -> Case | None:
    key = key_of(cell)
    if key.depth is not None:
        return Case(key.dataset, key.model, key.depth, _HIDDEN)
    if key not in cells:
        return None
    model = cells[key].settings.model
    return Case(key.dataset, key.model, model.depth or 0, model.hidden or 0)


def _path(table: PaperTable, folder: Path) -> Path:
    return folder / "times" / f"{table.name}.json"
