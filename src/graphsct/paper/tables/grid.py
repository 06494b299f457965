"""The table of the paper's search grid beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphsct.pages.tables import Column, Table
from graphsct.paper.keys import control_of
from graphsct.paper.paper import MODELS
from graphsct.paper.tables.experiment import PaperExperiment, Root
from graphsct.paper.tables.rows import MODEL
from graphsct.search.space import space
from graphsct.search.task import Task

__all__ = ["EXPERIMENTS", "Grid", "GridRow"]


@dataclass(frozen=True)
class GridRow:
    """The values of one setting, in the paper's search and in ours.

    Args:
        model: ``None`` if it is a setting of all models
        model_title: title of the model
        quantity: name of the setting
        paper: values in the paper, ``None`` if it does not search the setting
        ours: values in our search, ``None`` if it does not search the setting
        paper_text: the paper's values as text
        ours_text: our values as text
    """

    model: str | None
    model_title: str
    quantity: str
    paper: list[float] | None
    ours: list[Any] | None
    paper_text: str
    ours_text: str


_COLUMNS: tuple[Column[GridRow], ...] = (
    MODEL,
    Column("setting", "{quantity:s}", right=False),
    Column("paper", "{paper_text:s}", right=False),
    Column("ours", "{ours_text:s}", right=False),
)
_NOTES = (
    "The paper's alpha of EGNN is our c_min, and its theta is that of the control.",
    "depth is searched on the heterophilic sets, activation where a table does not fix it.",
    "drop_convs: whether dropout is also applied before convolutions; share: the share of c_min "
    "that goes to the initial features.",
)


class Grid(PaperExperiment):
    """One row for each setting: those of the paper first, then those that only we search."""

    def build(self, cells: Path, root: Root) -> Table[GridRow]:
        """Look the values up in the search space; no cell is needed."""
        ours = {
            (model, name): values
            for model in MODELS
            for name, values in space(Task("cora", model, control_of(model), None)).items()
        }
        rows, seen = [], set()
        for cell in self.printed.cells:
            # The energetic model has no alpha; we read the paper's alpha as its c_min.
            name = "c_min" if (cell.model, cell.quantity) == ("egnn", "alpha") else cell.quantity
            owners = [cell.model] if cell.model else list(MODELS)
            seen |= {(owner, name) for owner in owners}
            rows.append(_row(cell.model, cell.quantity, cell.values, ours.get((owners[0], name))))
        rows += [_row(*key, (), values) for key, values in ours.items() if key not in seen]
        return self.table(_COLUMNS, rows, _NOTES, sections=("model",))


EXPERIMENTS = (Grid("grid"),)


def _row(
    model: str | None, quantity: str, paper: tuple[float, ...], ours: tuple[Any, ...] | None
) -> GridRow:
    return GridRow(
        model,
        MODELS[model] if model else "all",
        quantity,
        list(paper) or None,
        None if ours is None else list(ours),
        _text(paper),
        _text(ours or ()),
    )


def _text(values: tuple[Any, ...]) -> str:
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
