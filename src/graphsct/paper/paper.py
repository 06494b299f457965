"""Every number of the paper's tables, as printed, with its misprints marked."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.names import nearest

__all__ = [
    "DATASETS",
    "MODELS",
    "OTHER_SPLITS",
    "TITLES",
    "PaperCell",
    "PaperTable",
    "find_table",
    "tables",
]

#: Titles of the models.
MODELS = {"gcn": "GCN", "gcnii": "GCNII", "egnn": "EGNN"}

#: The citation sets, then the heterophilic ones, each in the paper's order.
DATASETS = {
    "cora": "Cora",
    "citeseer": "Citeseer",
    "pubmed": "PubMed",
    "physics": "Coauthor-Physics",
    "arxiv": "Ogbn-arxiv",
    "cornell": "Cornell",
    "texas": "Texas",
    "wisconsin": "Wisconsin",
    "chameleon": "Chameleon",
    "squirrel": "Squirrel",
}

#: Data sets whose split in the paper is not our default, and our names of them with that split.
OTHER_SPLITS = {"physics": "physics_egnn"}

#: Titles of all data sets of our tables.
TITLES = DATASETS | {"physics_egnn": "Coauthor-Physics, EGNN's split"}


@dataclass(frozen=True)
class PaperCell:
    """One number of a table, and its subject; fields that the table does not give are ``None``.

    Args:
        value: as printed; text only where the paper has a split
        dataset: our name of the data set
        model: ``gcn``, ``gcnii`` or ``egnn``
        sct: with smoothness control or without
        depth: number of layers
        hidden: number of channels
        activation: ``relu``, ``leaky_relu`` or ``srelu``
        quantity: the quantity that the number measures
        std: standard deviation, where printed
        values: values of a row of the search grid, which has no single value
        printed: the model's name as printed, if that is wrong
        right: the right value, if it is known
        why: what is wrong with the cell
    """

    value: float | str | None = None
    dataset: str | None = None
    model: str | None = None
    sct: bool | None = None
    depth: int | None = None
    hidden: int | None = None
    activation: str | None = None
    quantity: str = "accuracy"
    std: float | None = None
    values: tuple[float, ...] = ()
    printed: str | None = None
    right: float | None = None
    why: str | None = None


@dataclass(frozen=True)
class PaperTable:
    """One table.

    Args:
        number: number in the paper
        name: plain name
        label: label in the paper's source
        title: subject of the table
        unit: unit of its numbers, empty if they have several or none
        notes: the paper's remarks on the numbers, and its contradictions
        cells: cells in printed order
    """

    number: int
    name: str
    label: str
    title: str
    unit: str
    notes: tuple[str, ...]
    cells: tuple[PaperCell, ...]

    def on_other_splits(self) -> PaperTable:
        """The numbers of the data sets in :data:`OTHER_SPLITS`, for our cells on those splits."""
        cells = tuple(
            replace(cell, dataset=OTHER_SPLITS[cell.dataset])
            for cell in self.cells
            if cell.dataset in OTHER_SPLITS
        )
        return replace(self, cells=cells)


@cache
def tables() -> dict[str, PaperTable]:
    """All tables by their plain names.

    Example:
        >>> tables()["depth"].cells[0].value
        81.1
    """
    text = files("graphsct.paper").joinpath("paper.json").read_text(encoding="utf-8")
    return {values["name"]: _table(values) for values in json.loads(text)["tables"]}


def _table(values: dict[str, Any]) -> PaperTable:
    cells = tuple(
        PaperCell(**{**cell, "values": tuple(cell.get("values", ()))}) for cell in values["cells"]
    )
    return PaperTable(**{**values, "notes": tuple(values["notes"]), "cells": cells})


def find_table(name: str) -> PaperTable:
    """A table by its plain name or its number.

    Example:
        >>> find_table("table1").name, find_table("t-tests").number
        ('depth', 4)
    """
    found = tables()
    for table in found.values():
        if name.lower() in (table.name, f"table{table.number}", str(table.number)):
            return table
    raise ExperimentError(
        f"the paper has no table {name!r}{nearest(name, found)}, or table1 to table{len(found)}"
    )
