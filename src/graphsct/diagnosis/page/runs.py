"""The page of a run folder: its results, and a diagnosis of its best model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from graphsct import __version__
from graphsct.diagnosis.card import describe_graph
from graphsct.diagnosis.diagnose import classified, diagnose, measured_graph
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.page import inside, pretty
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.history import history
from graphsct.diagnosis.tables import comparison_table, seed_table
from graphsct.diagnosis.weight_files import load_weights
from graphsct.errors import GraphsctError
from graphsct.extras import require
from graphsct.files import write_text
from graphsct.pages import render
from graphsct.plotting.interactive import Drawn, share_scales
from graphsct.training.checkpoint import WEIGHTS, saving
from graphsct.training.compare import WITHOUT, Comparison
from graphsct.training.folder import PAGE
from graphsct.training.run import Run
from graphsct.training.seeds import Results, seed_folder
from graphsct.training.words import describe

__all__ = ["best_run", "look_inside", "trained_page", "write_trained"]


def write_trained(found: Comparison, data: Any, folder: Path) -> Path:
    """Write the page of a run folder into it.

    Args:
        found: the results
        data: the data of the training
        folder: contains the weights of the seeds
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
    """Return the diagnosis of the best run, or the reason why there is none."""
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
    """Return the finished run with the best validation score, by the rule that chose its epoch."""
    rank = results.criterion.rank
    return min(results.finished, key=lambda run: rank(run.val_score, run.val_loss), default=None)


class History(NamedTuple):
    """The history of a model's runs, under its heading."""

    heading: str
    history: list[Drawn]


def trained_page(found: Comparison, data: Any, looks: Sequence[Diagnosis | str]) -> str:
    """Return everything about the runs on one page, the verdict on top.

    Args:
        found: the results
        data: the data of the training
        looks: for each part of ``found`` its diagnosis, or the reason why there is none
    """
    graph = measured_graph(data)
    names = [_heading(part) if len(found.parts) > 1 else "" for part in found.parts]
    pairs = list(zip(names, looks, strict=True))
    parts = [inside(look, name) for name, look in pairs if isinstance(look, Diagnosis)]
    histories = [
        History(name, history(part.runs)) for part, name in zip(found.parts, names, strict=True)
    ]
    maps, lines = [part.maps for part in parts], [part.curves for part in parts]
    for drawings in (maps, lines, [one.history for one in histories]):
        for drawn in zip(*drawings, strict=True):
            share_scales([one.figure for one in drawn])
    return render(
        "trained.html",
        title=f"{found.results.model.title} on {found.data}",
        plots=True,
        version=__version__,
        lead=describe(found),
        interrupted=found.interrupted,
        parts=parts,
        metric=found.results.metric,
        rule=found.results.criterion.title,
        unknown=[(name, look) for name, look in pairs if isinstance(look, str)],
        summary=comparison_table(found),
        seeds=[seed_table(part, name) for part, name in zip(found.parts, names, strict=True)],
        histories=histories,
        graph=card_view(describe_graph(graph, classified(data, graph.num_nodes))),
        settings=_settings(found),
    )


def _heading(results: Results) -> str:
    return f"control {results.model.control}" if results.model.control else "without control"


def _settings(found: Comparison) -> dict[str, str]:
    values = found.results.to_dict()
    shown = {"Model": {key: v for key, v in values["model"].items() if v is not None}}
    shown |= {"Training": values["train"], "Versions": found.results.runs[0].versions}
    return {name: pretty(part) for name, part in shown.items()}
