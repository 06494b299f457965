"""Accuracies that others report for the same splits, for scale."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files

from graphsct.pages.tables import Column, Table
from graphsct.paper.paper import DATASETS
from graphsct.paper.tables.rows import DATA

__all__ = ["Yardstick", "yardsticks"]


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """An accuracy from outside the paper; fields that its source does not give are ``None``."""

    dataset: str
    what: str
    depth: int | None
    value: float
    std: float | None
    runs: int | None
    data_title: str


_COLUMNS: tuple[Column[Yardstick], ...] = (
    DATA,
    Column("what", "{what:s}", right=False),
    Column("layers", "{depth:d}"),
    Column("accuracy", ("{value:.1f} ± {std:.1f}", "{value:.1f}")),
    Column("runs", "{runs:d}"),
)


def yardsticks(datasets: Collection[str]) -> tuple[Table[Yardstick], ...]:
    """Return one table with the yardsticks of some data sets, none if there are no yardsticks."""
    text = files("graphsct.paper").joinpath("yardsticks.json").read_text(encoding="utf-8")
    found = json.loads(text)
    rows = tuple(
        Yardstick(**row, data_title=DATASETS[row["dataset"]])
        for row in found["yardsticks"]
        if row["dataset"] in datasets
    )
    notes = tuple(
        note["text"]
        for note in found["notes"]
        if note["datasets"] is None or not set(datasets).isdisjoint(note["datasets"])
    )
    title = "Results of others"
    return (Table(title, _COLUMNS, rows, notes, sections=("dataset",)),) if rows else ()
