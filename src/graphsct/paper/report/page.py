"""The report as one HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphsct import __version__
from graphsct.pages import render
from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Cell, Result
from graphsct.paper.paper import MODELS
from graphsct.paper.report.brief import brief
from graphsct.paper.report.drawings import Drawing
from graphsct.paper.report.findings import CLAIMED, breakdown
from graphsct.paper.report.goals import goals
from graphsct.paper.report.overview import overview
from graphsct.paper.report.plots import BASE, SCT, depth_plots, gain_plots, trial_plots
from graphsct.paper.tables.rows import VERDICTS
from graphsct.training.selection import Criterion

__all__ = ["TITLE", "page"]

TITLE = "The paper’s claims, run again"


def page(
    tables: Mapping[str, Table[Any]], cells: Sequence[Cell], drawings: Sequence[Drawing]
) -> str:
    """Return the whole report as one page.

    Args:
        tables: all tables by their plain names
        cells: our cells, from which the tables are built
        drawings: all figures
    """
    return render(
        "report.html",
        title=TITLE,
        plots=True,
        version=__version__,
        brief=brief(tables),
        summary=overview(tables, drawings),
        verdicts=VERDICTS,
        goals=goals(tables),
        breakdown=breakdown(tables),
        gains=gain_plots(tables[name] for name in CLAIMED),
        depth=depth_plots(tables["depth"]),
        trials=trial_plots(tables["replay"]),
        colours={"base": BASE, "sct": SCT},
        tables=tables,
        drawings=drawings,
        cells=[_describe(cell) for cell in cells],
    )


def _describe(cell: Cell) -> dict[str, Any]:
    """Describe a cell, without settings that keep the model's default."""
    settings = cell.settings.to_dict()
    settings["model"] = {k: v for k, v in settings["model"].items() if v is not None}
    key = cell.key
    layers = f", {key.depth} layers" if key.depth else ""
    return {
        "name": key.name,
        "title": f"{key.dataset}, {MODELS[key.model]}, control {key.control or 'none'}{layers}",
        "command": cell.command,
        "settings": json.dumps(settings, indent=2),
        "found": None if cell.found is None else cell.found.to_json(indent=2),
        "versions": None if cell.versions is None else json.dumps(cell.versions, indent=2),
        "runs": Table(f"Runs of {key.name}", _RUNS, cell.results),
    }


_RUNS: tuple[Column[Result], ...] = (
    Column("epoch selected by", lambda run: Criterion(run.select).title, right=False),
    Column("seed", "{seed:d}"),
    Column("split", "{split:d}"),
    Column("test, %", lambda run: f"{100 * run.test_score:.1f}"),
    Column("validation, %", lambda run: f"{100 * run.val_score:.1f}"),
    Column("epoch", "{best_epoch:d}"),
    Column("of", "{epochs:d}"),
    Column("seconds", "{seconds:.1f}"),
)
