"""A diagnosis, or what was trained, as one HTML page."""

from __future__ import annotations

import json
from typing import Any

from graphsct import __version__
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.measure import LayerReport
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.curves import curves, middle_reach
from graphsct.diagnosis.page.history import history
from graphsct.diagnosis.page.maps import heat_maps
from graphsct.diagnosis.verdict import Finding, span
from graphsct.diagnosis.words import EFFECTS, MEANINGS, effect_rows, size, trained, tried
from graphsct.pages import render
from graphsct.pages.tables import Field, Head, table_view

__all__ = ["inside", "page", "pretty"]


def page(found: Diagnosis) -> str:
    """Everything about one diagnosis, the verdict on top."""
    return render(
        "diagnosis.html",
        title=f"{found.model} on {found.data}",
        plots=True,
        version=__version__,
        size=size(found),
        trained=None if found.run is None else trained(found.run),
        parts=[inside(found, "")],
        tried=_tried(found),
        effects=_measured(found),
        untried=found.untried,
        history=[] if found.run is None else history([found.run]),
        graph=card_view(found.graph),
        settings=_settings(found),
    )


def inside(found: Diagnosis, heading: str) -> dict[str, Any]:
    """What a page shows of one model, under its heading."""
    return {
        "heading": heading,
        "found": found,
        "findings": [_finding(finding, len(found.layers)) for finding in found.findings],
        "maps": heat_maps(found),
        "curves": curves(found),
        "table": _layers(found, heading),
    }


def pretty(values: Any) -> str:
    """Plain values, to be read."""
    return json.dumps(values, indent=2, ensure_ascii=False)


def _finding(finding: Finding, depth: int) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "where": span(finding.layers),
        "strip": [number in finding.layers for number in range(1, depth + 1)],
        "evidence": finding.evidence,
        "meaning": MEANINGS[finding.kind],
    }


_LAYERS = (
    Head("layer", right=False),
    Head("name", right=False),
    Head("kind", right=False),
    Head("state", right=False),
    Head("s, quartiles"),
    Head("dead"),
    Head("effective rank"),
    Head("rank of contrast"),
    Head("contrast"),
    Head("distance"),
    Head("distance over norm"),
    Head("energy"),
    Head("normalized energy"),
    Head("norm"),
    Head("gradient"),
    Head("s in reach, place in it"),
)


def _layers(found: Diagnosis, heading: str) -> dict[str, Any]:
    numbers = range(1, len(found.layers) + 1)
    starved = {n for f in found.findings if f.kind == "vanishing gradient" for n in f.layers}
    rows: list[list[str | Field]] = [
        [str(number), layer.name, layer.kind, _state(state, number in starved), *_row(layer)]
        for number, layer, state in zip(numbers, found.layers, found.states, strict=True)
    ]
    return table_view(f"Layers{', ' * bool(heading)}{heading}", _LAYERS, rows)


def _state(state: str, starved: bool) -> Field:
    wrong = [state] if state != "healthy" else []
    wrong += ["vanishing gradient"] if starved else []
    return Field(", ".join(wrong), "worse", "▼") if wrong else Field("healthy", "better", "▲")


def _row(layer: LayerReport) -> list[str]:
    reach = middle_reach(layer)
    stands = "" if reach is None or reach.place is None else f", {reach.place:.0%}"
    return [
        "–" if layer.quartiles is None else " ".join(f"{value:.3f}" for value in layer.quartiles),
        f"{len(layer.dead)} of {layer.channels}",
        f"{layer.effective_rank:.2f}",
        f"{layer.contrast_rank:.2f}",
        f"{layer.contrast:.3g}",
        f"{layer.distance:.3g}",
        f"{layer.relative_distance:.3g}",
        f"{layer.dirichlet_energy:.3g}",
        f"{layer.normalized_dirichlet_energy:.3g}",
        f"{layer.norm:.3g}",
        f"{layer.gradient_norm:.3g}",
        "–" if reach is None else f"{reach.low:.2f} to {reach.high:.2f}{stands}",
    ]


def _measured(found: Diagnosis) -> dict[str, str]:
    """What each remedy came to, by its name."""
    rows = [(name, test) for name, test, *_ in effect_rows(found)]
    return {
        name: f"{test} % of the test nodes are right, {rows[0][1]} % as it is"
        for name, test in rows[1:]
    }


def _tried(found: Diagnosis) -> dict[str, Any] | None:
    if not found.effects:
        return None
    columns = [Head(name, right=i > 0) for i, name in enumerate(EFFECTS)]
    return table_view(tried(found).rstrip(":"), columns, list(effect_rows(found)))


def _settings(found: Diagnosis) -> dict[str, str]:
    shown = {"Training": None if found.run is None else found.run.config.to_dict()}
    shown |= {"Where a verdict begins": found.to_dict()["thresholds"], "Versions": found.versions}
    return {name: pretty(values) for name, values in shown.items() if values is not None}
