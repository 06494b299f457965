"""The page of a diagnosis, and the parts that it shares with the page of a run folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from graphsct import __version__
from graphsct.diagnosis.advice import title
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.curves import curves
from graphsct.diagnosis.page.history import history
from graphsct.diagnosis.page.maps import heat_maps
from graphsct.diagnosis.rates import describe_rate
from graphsct.diagnosis.tables import LayerRow, effect_table, layer_table
from graphsct.diagnosis.verdict import Finding, span
from graphsct.diagnosis.words import MEANINGS, answer, best, size, trained
from graphsct.pages import render
from graphsct.pages.tables import Table
from graphsct.plotting.interactive import Drawn

__all__ = ["FindingView", "Inside", "inside", "page", "pretty"]


def page(found: Diagnosis) -> str:
    """Return everything about one diagnosis, the verdict on top."""
    effects = effect_table(found)
    return render(
        "diagnosis.html",
        title=f"{found.model} on {found.data}",
        plots=True,
        version=__version__,
        size=size(found),
        trained=None if found.run is None else trained(found.run),
        parts=[inside(found, "")],
        tried=effects,
        effects=_measured(found),
        best=best(found),
        untried={title(name): reason for name, reason in found.untried.items()},
        history=[] if found.run is None else history([found.run]),
        graph=card_view(found.graph),
        settings=_settings(found),
    )


@dataclass(frozen=True)
class FindingView:
    """A finding in words; ``strip`` marks its layers, and is empty for the whole model."""

    kind: str
    where: str
    strip: list[bool]
    evidence: str
    meaning: str
    rate: str


@dataclass(frozen=True)
class Inside:
    """The parts of a page about one model, under its heading."""

    heading: str
    found: Diagnosis
    answer: str
    findings: list[FindingView]
    maps: list[Drawn]
    curves: list[Drawn]
    table: Table[LayerRow]
    note: str


def inside(found: Diagnosis, heading: str, note: str = "") -> Inside:
    """Return the parts of a page about one model."""
    return Inside(
        heading,
        found,
        answer(found),
        [_finding(finding, len(found.layers)) for finding in found.findings],
        heat_maps(found),
        curves(found),
        layer_table(found, heading),
        note,
    )


def pretty(values: Any) -> str:
    """Return plain values as indented JSON."""
    return json.dumps(values, indent=2, ensure_ascii=False)


def _finding(finding: Finding, depth: int) -> FindingView:
    return FindingView(
        finding.kind,
        f"{span(finding.layers)} of {depth}" if finding.layers else "the whole model",
        [number in finding.layers for number in range(1, depth + 1)] if finding.layers else [],
        finding.evidence,
        MEANINGS[finding.kind],
        describe_rate(finding.kind),
    )


def _measured(found: Diagnosis) -> dict[str, str]:
    """Return the effect of each remedy by its name."""
    if not found.effects:
        return {}
    as_it_is, *others = found.effects
    metric, show = as_it_is.metric, as_it_is.metric.show
    unit = " %" * metric.percent
    return {
        effect.name: f"test {metric.title} {show(effect.test)}{unit}, "
        f"{show(as_it_is.test)}{unit} as it is"
        for effect in others
    }


def _settings(found: Diagnosis) -> dict[str, str]:
    shown = {"Training": None if found.run is None else found.run.config.to_dict()}
    shown |= {"Limits of the verdicts": found.to_dict()["thresholds"], "Versions": found.versions}
    return {name: pretty(values) for name, values in shown.items() if values is not None}
