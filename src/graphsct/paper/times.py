"""Time of an epoch for the paper's tables of times, measured by :mod:`graphsct.training.timing`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.files import write_json
from graphsct.paper.cell import PACKAGED, Cell, Key
from graphsct.paper.keys import key_of
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.reproduce import Loader
from graphsct.training.run import versions
from graphsct.training.timing import Case, measure_data

__all__ = ["find_time", "measure_times", "read_times"]

_HIDDEN = 16
_MEASURED = ("control", "ours_ms", "pyg_edge_index_ms", "pyg_sparse_ms", "limit_ms")


def measure_times(
    table: PaperTable,
    cells: Mapping[Key, Cell],
    *,
    load: Loader,
    out: Path,
    seconds: float = 20.0,
) -> Iterator[dict[str, Any]]:
    """Measure the times of a table, one row after another; the file is complete at any time.

    Args:
        table: a table of times; the most accurate models are timed if they have cells
        cells: our cells, with the depth and width of the most accurate models
        load: function that loads data by name
        out: folder of cells; the file goes into its folder ``times``
        seconds: time for each data set and model
    """
    rows = read_times(table, out)
    wanted: dict[Case, list[str | None]] = {}
    for cell in table.cells:
        case, control = _case(cell, cells), key_of(cell).control
        if case is not None and not any(_is_of(row, case, control) for row in rows):
            wanted.setdefault(case, []).append(control)
    command = f"graphsct reproduce table{table.number} --seconds {seconds:g}"
    for case, controls in wanted.items():
        for found in measure_data(case, load(case.data, False), seconds=seconds, repeats=200):
            if found["control"] in controls:
                row = {**case._asdict(), **{name: found[name] for name in _MEASURED}}
                rows.append(row)
                content = {"command": command, "versions": versions(), "rows": rows}
                write_json(_path(table, out), content)
                yield row


def find_time(
    cell: PaperCell, cells: Mapping[Key, Cell], rows: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """The row of a cell of the paper, if it was measured."""
    case, control = _case(cell, cells), key_of(cell).control
    return next((row for row in rows if case and _is_of(row, case, control)), None)


def read_times(table: PaperTable, folder: Path = PACKAGED) -> list[dict[str, Any]]:
    """The measured rows, none if nothing was measured."""
    path = _path(table, folder)
    if not path.is_file():
        return []
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))["rows"])
    except (KeyError, TypeError, ValueError) as error:
        raise ExperimentError(f"{path} has no times: {error!r}; mend it or delete it") from error


def _case(cell: PaperCell, cells: Mapping[Key, Cell]) -> Case | None:
    key = key_of(cell)
    if key.depth is not None:
        return Case(key.dataset, key.model, key.depth, _HIDDEN)
    if key not in cells:
        return None
    model = cells[key].settings.model
    return Case(key.dataset, key.model, model.depth or 0, model.hidden or 0)


def _is_of(row: dict[str, Any], case: Case, control: str | None) -> bool:
    return row["control"] == control and all(row[k] == v for k, v in case._asdict().items())


def _path(table: PaperTable, folder: Path) -> Path:
    return folder / "times" / f"{table.name}.json"
