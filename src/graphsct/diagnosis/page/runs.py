"""The page of a run folder: what was trained, and what the best model of it looks like inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphsct import __version__
from graphsct.diagnosis.builders import load_weights
from graphsct.diagnosis.card import describe_graph
from graphsct.diagnosis.diagnose import classified, diagnose, graph_of
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.page import inside, pretty
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.history import history
from graphsct.errors import GraphsctError
from graphsct.extras import require
from graphsct.files import write_text
from graphsct.pages import render
from graphsct.pages.tables import Head, table_view
from graphsct.plotting.interactive import share_scales
from graphsct.training.checkpoint import WEIGHTS, saving
from graphsct.training.compare import WITHOUT, Comparison
from graphsct.training.folder import PAGE
from graphsct.training.run import Run
from graphsct.training.seeds import Results, seed_folder
from graphsct.training.words import COLUMNS, SELECT, TITLES, describe, rows

__all__ = ["best_run", "look_inside", "trained_page", "write_trained"]


def write_trained(found: Comparison, data: Any, folder: Path) -> Path:
    """Write the page of a run folder into it.

    Args:
        found: what came out
        data: what it was trained on
        folder: with the weights of the seeds
    """
    require("plotly", "report")
    places = [folder, folder / WITHOUT]
    looks = [
        look_inside(part, data, place) for part, place in zip(found.parts, places, strict=False)
    ]
    text = trained_page(found, data, looks)
    with saving(folder):
        write_text(folder / PAGE, text)
    return folder / PAGE


def look_inside(results: Results, data: Any, folder: Path) -> Diagnosis | str:
    """The diagnosis of the best run, or why there is none."""
    run = best_run(results)
    if run is None:
        return "no run is finished"
    model = results.model.build(data)
    try:
        load_weights(model, seed_folder(folder, run.config.seed) / WEIGHTS)
        return replace(diagnose(model, data), run=run)
    except GraphsctError as error:
        return str(error)


def best_run(results: Results) -> Run | None:
    """The finished run that validation likes best, by the rule that chose its epoch."""
    if results.config.select == "val_loss":
        return min(results.finished, key=lambda run: run.val_loss, default=None)
    return max(results.finished, key=lambda run: run.val_accuracy, default=None)


def trained_page(found: Comparison, data: Any, looks: Sequence[Diagnosis | str]) -> str:
    """Everything about the runs on one page, the verdict on top.

    Args:
        found: what came out
        data: what it was trained on
        looks: for each part of ``found`` its diagnosis, or why there is none
    """
    graph = graph_of(data)
    names = [_heading(part) if len(found.parts) > 1 else "" for part in found.parts]
    columns = [Head(name, right=i > 0) for i, name in enumerate(COLUMNS)]
    pairs = list(zip(names, looks, strict=True))
    parts = [inside(look, name) for name, look in pairs if isinstance(look, Diagnosis)]
    histories = [
        {"heading": name, "history": history(part.runs)}
        for part, name in zip(found.parts, names, strict=True)
    ]
    for several, which in ((parts, "maps"), (parts, "curves"), (histories, "history")):
        for drawn in zip(*(part[which] for part in several), strict=True):
            share_scales([one.figure for one in drawn])
    return render(
        "trained.html",
        title=f"{TITLES[found.results.model.model]} on {found.data}",
        plots=True,
        version=__version__,
        lead=describe(found),
        interrupted=found.interrupted,
        parts=parts,
        rule=SELECT[found.results.config.select],
        unknown=[(name, look) for name, look in pairs if isinstance(look, str)],
        summary=table_view("Mean ± standard deviation over the seeds", columns, list(rows(found))),
        seeds=[_seeds(part, name) for part, name in zip(found.parts, names, strict=True)],
        histories=histories,
        graph=card_view(describe_graph(graph, classified(data, graph.num_nodes))),
        settings=_settings(found),
    )


def _heading(results: Results) -> str:
    return f"control {results.model.control}" if results.model.control else "without control"


def _seeds(results: Results, heading: str) -> dict[str, Any]:
    several = results.splits[0] is not None
    shown = [
        (
            f"{run.config.seed}{', interrupted' * run.interrupted}",
            *([str(split)] if several else []),
            f"{100 * run.test_accuracy:.1f}",
            f"{100 * run.val_accuracy:.1f}",
            f"{run.val_loss:.4g}",
            str(run.best_epoch),
            str(run.epochs),
            f"{run.seconds:.1f}",
        )
        for run, split in zip(results.runs, results.splits, strict=True)
    ]
    names = ["test, %", "validation, %", "validation loss", "epoch", "of", "seconds"]
    columns = [Head("seed", right=False), *map(Head, [*["split"] * several, *names])]
    return table_view(f"Every seed{', ' * bool(heading)}{heading}", columns, shown)


def _settings(found: Comparison) -> dict[str, str]:
    values = found.results.to_dict()
    shown = {"Model": {key: v for key, v in values["model"].items() if v is not None}}
    shown |= {"Training": values["train"], "Versions": found.results.runs[0].versions}
    return {name: pretty(part) for name, part in shown.items()}
