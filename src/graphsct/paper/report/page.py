"""The report as one HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphsct import __version__
from graphsct.pages import render
from graphsct.pages.tables import Field
from graphsct.paper.cell import Cell
from graphsct.paper.paper import MODELS
from graphsct.paper.report.drawings import Drawing
from graphsct.paper.report.findings import CLAIMED, breakdown
from graphsct.paper.report.plots import BASE, SCT, depth_plots, gain_plots
from graphsct.paper.report.words import summary
from graphsct.paper.tables import Column, Row, Table
from graphsct.paper.tables.render import heading

__all__ = ["TITLE", "page"]

TITLE = "The paper’s claims, run again"

#: Verdicts by their words, with a class and a sign, so that colour is not all there is.
_VERDICTS = {
    "helps": ("better", "▲"),
    "hurts": ("worse", "▼"),
    "unclear": ("level", "~"),
    "above": ("better", "▲"),
    "below": ("worse", "▼"),
    "agrees": ("level", "="),
}


def page(tables: Mapping[str, Table], cells: Sequence[Cell], drawings: Sequence[Drawing]) -> str:
    """Everything on one page.

    Args:
        tables: all of the paper, by their plain names
        cells: those of ours that the tables are made of
        drawings: all figures
    """
    names = {cell.key.name for cell in cells}
    return render(
        "report.html",
        title=TITLE,
        plots=True,
        version=__version__,
        summary=summary(tables, drawings),
        verdicts=_VERDICTS,
        breakdown=_view(breakdown(tables), names),
        gains=gain_plots(tables[name] for name in CLAIMED),
        depth=depth_plots(tables["depth"]),
        colours={"base": BASE, "sct": SCT},
        tables={name: _view(table, names) for name, table in tables.items()},
        drawings=[(drawing, _view_digest(drawing)) for drawing in drawings],
        cells=[_describe(cell) for cell in cells],
    )


def _view(table: Table, cells: set[str]) -> dict[str, Any]:
    """A table as its template takes it."""
    return {
        "heading": heading(table),
        "columns": table.columns,
        "rows": [[_field(column, row, cells) for column in table.columns] for row in table.rows],
        "starts": _starts(table),
        "notes": table.notes,
        "parts": [_view(part, cells) for part in table.parts],
    }


def _starts(table: Table) -> list[bool]:
    """Which rows begin a new data set or model."""
    places = [(row.get("dataset"), row.get("model")) for row in table.rows]
    return [place != before for place, before in zip(places, [places[:1], *places], strict=False)]


def _view_digest(drawing: Drawing) -> dict[str, Any] | None:
    return None if drawing.digest is None else _view(drawing.digest, set())


def _field(column: Column, row: Row, cells: set[str]) -> Field:
    text = column.show(row)
    if text in _VERDICTS and not column.right:
        return Field(text, *_VERDICTS[text])
    if text and row.get("missing") and column.title.startswith("ours"):
        return Field(row["missing"], "missing")
    if column.title == "ours" and row.get("cell") in cells:
        return Field(text, link=f"#cell-{row['cell']}")
    return Field(text)


def _describe(cell: Cell) -> dict[str, Any]:
    """Everything about a cell; settings that were left to the model are left out."""
    settings = cell.settings.to_dict()
    settings["model"] = {k: v for k, v in settings["model"].items() if v is not None}
    key = cell.key
    layers = f", {key.depth} layers" if key.depth else ""
    return {
        "name": key.name,
        "title": f"{key.dataset}, {MODELS[key.model]}, control {key.control or 'none'}{layers}",
        "command": cell.command,
        "settings": json.dumps(settings, indent=2),
        "found": None if cell.found is None else json.dumps(cell.found, indent=2),
        "versions": None if cell.versions is None else json.dumps(cell.versions, indent=2),
        "results": cell.results,
    }
