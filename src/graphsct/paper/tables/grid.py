"""The search grid, and what ours tries."""

from __future__ import annotations

from typing import Any

from graphsct.paper.paper import MODELS, PaperTable
from graphsct.paper.plan import control_of
from graphsct.paper.tables.table import Column, Row, Table
from graphsct.search.space import space
from graphsct.search.task import Task

__all__ = ["build"]

_COLUMNS = (
    Column("model", ("{model_title:s}",), right=False),
    Column("setting", ("{quantity:s}",), right=False),
    Column("paper", ("{paper_text:s}",), right=False),
    Column("ours", ("{ours_text:s}",), right=False),
)


def build(table: PaperTable) -> Table:
    """One row for each setting: those of the paper first, then those that only ours has."""
    ours = {
        (model, name): values
        for model in MODELS
        for name, values in space(Task("cora", model, control_of(model), None)).items()
    }
    rows, seen = [], set()
    for cell in table.cells:
        # The energetic model has no alpha; what the paper calls so is read as its c_min.
        name = "c_min" if (cell.model, cell.quantity) == ("egnn", "alpha") else cell.quantity
        owners = [cell.model] if cell.model else list(MODELS)
        seen |= {(owner, name) for owner in owners}
        rows.append(_row(cell.model, cell.quantity, cell.values, ours.get((owners[0], name))))
    rows += [_row(key[0], key[1], (), values) for key, values in ours.items() if key not in seen]
    notes = (
        *table.notes,
        "EGNN's alpha of the paper is our c_min, and its theta that of the control.",
        "depth is searched on the heterophilic sets, activation where a table does not fix it.",
        "drop_convs: whether dropout also stands before convolutions; share: of c_min, to the "
        "initial features.",
    )
    return Table(table.title, _COLUMNS, tuple(rows), notes, table)


def _row(
    model: str | None, quantity: str, paper: tuple[float, ...], ours: tuple[Any, ...] | None
) -> Row:
    return {
        "model": model,
        "model_title": MODELS[model] if model else "all",
        "quantity": quantity,
        "paper": list(paper) or None,
        "ours": None if ours is None else list(ours),
        "paper_text": _text(paper),
        "ours_text": _text(ours or ()),
    }


def _text(values: tuple[Any, ...]) -> str:
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
