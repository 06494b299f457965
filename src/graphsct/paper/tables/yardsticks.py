"""What others report for the same splits: outside of the paper, for scale."""

from __future__ import annotations

import json
from collections.abc import Collection
from importlib.resources import files

from graphsct.paper.paper import DATASETS
from graphsct.paper.tables.table import Column, Table

__all__ = ["yardsticks"]

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("what", ("{what:s}",), right=False),
    Column("layers", ("{depth:d}",)),
    Column("accuracy", ("{value:.1f} ± {std:.1f}", "{value:.1f}")),
    Column("runs", ("{runs:d}",)),
)


def yardsticks(datasets: Collection[str]) -> tuple[Table, ...]:
    """One table with the yardsticks of some data sets, none if there are no yardsticks."""
    text = files("graphsct.paper").joinpath("yardsticks.json").read_text(encoding="utf-8")
    found = json.loads(text)
    rows = tuple(
        {**row, "data_title": DATASETS[row["dataset"]]}
        for row in found["yardsticks"]
        if row["dataset"] in datasets
    )
    notes = tuple(
        note["text"]
        for note in found["notes"]
        if note["datasets"] is None or not set(datasets).isdisjoint(note["datasets"])
    )
    return (Table("Yardsticks outside of the paper", _COLUMNS, rows, notes),) if rows else ()
