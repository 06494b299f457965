"""Published scores by depth beside ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Field, Table
from graphsct.records import Record
from graphsct.remedies.board_cell import BoardCell, data_title

__all__ = ["NEAR", "PublishedScores", "PublishedTable", "published", "published_table"]

#: Points within which two scores agree; hundredths of a metric that is not in percent.
NEAR = 2.0


@dataclass(frozen=True)
class PublishedTable(Record, strict=True, error=ExperimentError):
    """Test accuracies by depth that somebody published, for the public splits.

    Args:
        title: name of the model in the source
        remedy: name of our remedy for the same model
        source: where it was published
        link: its address
        reproduced: whether others could reproduce it, ``yes``, ``no`` or ``not known``
        scores: in percent, by data set and number of layers
        unlike: how our cells differ
    """

    title: str
    remedy: str
    source: str
    link: str
    reproduced: str
    scores: dict[str, dict[str, float]]
    unlike: str = ""


@dataclass(frozen=True)
class PublishedScores:
    """The published scores for one data set, and our cells.

    Args:
        data: name of the data
        table: the table with the scores
        scores: the published scores by depth
        cells: our cells by depth, if they were run
    """

    data: str
    table: PublishedTable
    scores: Mapping[int, float]
    cells: Mapping[int, BoardCell]

    @property
    def both(self) -> dict[int, float]:
        """Our mean minus the published score, by depth."""
        return {
            depth: self.cells[depth].mean - score
            for depth, score in self.scores.items()
            if depth in self.cells
        }

    @property
    def holds(self) -> list[int]:
        """Depths at which ours differs from the published score by no more than 2 points."""
        return [depth for depth, difference in self.both.items() if abs(difference) <= NEAR]


@cache
def _contents() -> dict[str, Any]:
    text = files("graphsct.remedies").joinpath("published.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def published(cells: Sequence[BoardCell]) -> list[PublishedScores]:
    """The published tables for the data of some cells, beside our cells of GCN."""
    ours = {
        cell.key: cell
        for cell in cells
        if cell.key.model == "gcn" and cell.runs and cell.metric == "accuracy"
    }
    known = dict.fromkeys(key.data for key in ours)
    found = []
    for data in known:
        for table in map(PublishedTable.from_dict, _contents()["tables"]):
            scores = {int(depth): score for depth, score in table.scores.get(data, {}).items()}
            own = {
                key.depth: cell
                for key, cell in ours.items()
                if (key.data, key.remedy) == (data, table.remedy)
            }
            if scores:
                found.append(PublishedScores(data, table, scores, own))
    return found


@dataclass(frozen=True)
class _Line:
    """The published scores for one data set, or ours."""

    data: str
    title: str
    whose: str
    reproduced: str
    fields: dict[int, Field]


def published_table(cells: Sequence[BoardCell]) -> Table[_Line]:
    """Published scores by depth, ours below each of them."""
    lines = [line for found in published(cells) for line in _lines(found)]
    depths = sorted({depth for line in lines for depth in line.fields})
    columns: tuple[Column[_Line], ...] = (
        Column("data", lambda line: data_title(line.data), right=False),
        Column("model", "{title:s}", right=False),
        Column("from", "{whose:s}", right=False),
        Column("repro-\nduced", "{reproduced:s}", right=False),
        *(Column(f"{depth} layers", partial(_field, depth=depth)) for depth in depths),
    )
    notes = (
        "reproduced: whether others could reproduce the published scores",
        f"▲ ours is more than {NEAR:g} points above the published score, ▼ below, ~ neither",
        *_contents()["notes"],
    )
    sections = ("data", "title")
    return Table(
        "Published scores by depth, beside ours", columns, tuple(lines), notes, (), sections
    )


def _lines(found: PublishedScores) -> list[_Line]:
    table = found.table
    theirs = {depth: Field(f"{score:.1f}") for depth, score in found.scores.items()}
    ours = {
        depth: _compared(found.cells[depth], found.both[depth])
        if depth in found.cells
        else Field("not run", "missing")
        for depth in found.scores
    }
    whose = f"ours, {table.unlike}" if table.unlike else "ours"
    return [
        _Line(found.data, table.title, table.source, table.reproduced, theirs),
        _Line(found.data, table.title, whose, "", ours),
    ]


def _compared(cell: BoardCell, difference: float) -> Field:
    shown = cell.show()
    if abs(difference) <= NEAR:
        return Field(shown, "level")
    return Field(shown, "better" if difference > 0 else "worse")


def _field(line: _Line, *, depth: int) -> Field:
    return line.fields.get(depth, Field(""))
