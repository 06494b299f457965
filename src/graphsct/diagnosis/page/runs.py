"""The page of a run folder: its results, a judgement of every seed, and the worst in detail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from graphsct import __version__
from graphsct.diagnosis.card import describe_graph
from graphsct.diagnosis.diagnose import classified, diagnose, measured_graph
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.page import inside, pretty
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.history import history
from graphsct.diagnosis.standing import SplitScores, score_without_edges
from graphsct.diagnosis.tables import comparison_table, seed_table
from graphsct.diagnosis.weight_files import load_weights
from graphsct.errors import GraphsctError
from graphsct.extras import require
from graphsct.files import write_text
from graphsct.pages import render
from graphsct.plotting.interactive import Drawn, share_scales
from graphsct.training.checkpoint import WEIGHTS
from graphsct.training.compare import Comparison
from graphsct.training.disk import held, saving
from graphsct.training.folder import PAGE, WITHOUT, seed_folder
from graphsct.training.run import Run
from graphsct.training.seeds import Results, split_of
from graphsct.training.words import describe

__all__ = ["Judged", "judge_seeds", "trained_page", "write_trained"]


def write_trained(found: Comparison, data: Any, folder: Path) -> Path:
    """Write the page of a run folder into it.

    Args:
        found: the results
        data: the data of the training
        folder: contains the weights of the seeds
    """
    require("plotly", "report")
    places = [folder, folder / WITHOUT]
    with held(folder):
        looks = [
            judge_seeds(part, data, own) for part, own in zip(found.parts, places, strict=False)
        ]
        text = trained_page(found, data, looks)
        with saving(folder):
            write_text(folder / PAGE, text)
    return folder / PAGE


@dataclass(frozen=True)
class Judged:
    """The diagnosis of the worst seed, and a sentence about all of them."""

    worst: Diagnosis
    note: str


def judge_seeds(results: Results, data: Any, folder: Path) -> Judged | str:
    """Return the worst of the diagnoses of all seeds, or the reason why there is none.

    The worst is a seed that does not work, if there is one. Of several, it is the seed with the
    worst validation score or loss, by the rule that chose the epochs.
    """
    runs = results.finished
    if not runs:
        return "no run is finished"
    rank = results.criterion.rank
    order = sorted(runs, key=lambda run: rank(run.val_score, run.val_loss), reverse=True)
    rivals: dict[int | None, SplitScores] = {}

    def look_inside(run: Run, *, whole: bool) -> Diagnosis:
        model, split = results.model.build(data), split_of(data, run.config.seed)
        load_weights(model, seed_folder(folder, run.config.seed) / WEIGHTS)
        metric = run.config.metric
        if split not in rivals:
            rivals[split] = score_without_edges(data, split, metric)
        found = diagnose(
            model,
            data,
            split=split,
            metric=metric,
            rival=rivals[split],
            influence=whole,
            reach=whole,
        )
        return replace(found, run=run)

    try:
        judged = {run.config.seed: look_inside(run, whole=False) for run in order}
        failed = [run for run in order if judged[run.config.seed].works is False]
        worst = look_inside((failed or order)[0], whole=True)
    except GraphsctError as error:
        return str(error)
    return Judged(worst, _note(list(judged.values()), worst, results))


def _note(judged: Sequence[Diagnosis], worst: Diagnosis, results: Results) -> str:
    """Return how many seeds work, and which of them is shown."""
    assert worst.run is not None
    run, metric = worst.run, results.metric
    shown = (
        f"seed {run.config.seed} at epoch {run.best_epoch}: test {metric.title} "
        f"{metric.with_unit(run.test_score)}"
    )
    if len(judged) == 1:
        return f"The only finished seed, {shown}."
    count = len(judged)
    fine = sum(one.works is True for one in judged)
    inside = sum(bool(one.inside) for one in judged)
    works = "" if worst.works is None else f"{fine} of {count} seeds work; "
    return f"{works}{inside} of {count} have findings in layers. The worst is shown: {shown}."


class History(NamedTuple):
    """The history of a model's runs, under its heading."""

    heading: str
    history: list[Drawn]


def trained_page(found: Comparison, data: Any, looks: Sequence[Judged | str]) -> str:
    """Return everything about the runs on one page, the verdict on top.

    Args:
        found: the results
        data: the data of the training
        looks: for each part of ``found`` the judgement of its seeds, or the reason why there is
            none
    """
    graph = measured_graph(data)
    names = [_heading(part) if len(found.parts) > 1 else "" for part in found.parts]
    pairs = list(zip(names, looks, strict=True))
    parts = [
        inside(look.worst, name, look.note) for name, look in pairs if isinstance(look, Judged)
    ]
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
