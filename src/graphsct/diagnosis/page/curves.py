"""Interactive curves of a diagnosis: every measure by layer, those with findings shaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.page.maps import layer_axis
from graphsct.diagnosis.tables import middle_reach
from graphsct.plotting.interactive import (
    BLUE,
    GREY,
    ORANGE,
    Drawn,
    Figure,
    curve,
    layout,
    log_axis,
    positive,
)

__all__ = ["curves"]

_SHADE = "rgba(213, 74, 40, 0.16)"
#: Looks of the most important curve of a figure, of one beside it, and of a third.
_MAIN: Figure = {"colour": BLUE}
_SIDE: Figure = {"colour": GREY, "dash": "dot", "mark": "diamond"}
_THIRD: Figure = {"colour": ORANGE, "dash": "dash", "mark": "square"}


def curves(found: Diagnosis) -> list[Drawn]:
    """Return one figure per measure."""
    sick = [number for number, state in enumerate(found.states, 1) if state != "ok"]
    starved = [f.layers for f in found.findings if f.kind == "vanishing gradient"]
    drawn = [
        (_smoothness(found), sick),
        (_rank(found), sick),
        (_distance(found), sick),
        (_energy(found), sick),
        (_norm(found), sick),
        (_gradient(found), starved[0] if starved else []),
    ]
    return [_finish(found, one, bad) for one, bad in drawn]


def _finish(found: Diagnosis, drawn: Drawn, bad: Sequence[int]) -> Drawn:
    """Add the axis of layers to a figure, and shade layers with findings."""
    shape = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    shape |= {"fillcolor": _SHADE, "line": {"width": 0}}
    drawn.figure["layout"] |= {
        "xaxis": layer_axis(found),
        "shapes": [
            *({**shape, "x0": number - 0.5, "x1": number + 0.5} for number in bad),
            *drawn.figure["layout"].get("shapes", []),
        ],
    }
    return drawn


def _figure(traces: Sequence[Figure], axis: Figure, **more: Any) -> Figure:
    return {"data": list(traces), "layout": layout(yaxis=axis, **more)}


def _log(traces: list[Figure], foot: float = math.inf, **more: Any) -> Figure:
    """Return curves on a logarithmic axis, with crosses at its foot for zeros of the last one.

    Args:
        traces: from :func:`curve`
        foot: an upper bound of the crosses, besides the curves
        **more: options of the layout
    """
    x, y = traces[-1]["x"], traces[-1]["y"]
    drawn = [value for trace in traces for value in trace["y"] if value is not None]
    gaps = [number for number, value in zip(x, y, strict=True) if value is None]
    if gaps:
        foot = min([foot, *drawn]) / 10 if drawn else 1.0
        zeros = curve(gaps, [foot] * len(gaps), "exactly zero", ORANGE, mark="x", hover="0")
        traces = [*traces, {**zeros, "mode": "markers"}]
        drawn.append(foot)
    return _figure(traces, log_axis([*drawn, foot]), **more)


def _numbers(found: Diagnosis) -> list[int]:
    return list(range(1, len(found.layers) + 1))


def _smoothness(found: Diagnosis) -> Drawn:
    x = _numbers(found)
    quartiles = [layer.quartiles or (None, None, None) for layer in found.layers]
    median = [middle for _, middle, _ in quartiles]
    spread = {
        "symmetric": False,
        "array": [0 if m is None or h is None else h - m for _, m, h in quartiles],
        "arrayminus": [0 if m is None or low is None else m - low for low, m, _ in quartiles],
        "thickness": 1.2,
        "width": 0,
    }
    line = curve(x, median, "median s, quartiles", BLUE, error_y=spread, hover="%{y:.4f}")
    bars = _reach(found)
    traces = [line] if bars is None else [bars, line]
    return Drawn(
        "Normalized smoothness, and the range of control",
        _figure(traces, {"range": [-0.03, 1.03]}),
        _says("Median normalized smoothness", median),
        "Median and quartiles of the live dimensions. Bars: the range of s that a shift inside the "
        "eigenspace before the activation could reach, where the activation is known; pointing at "
        "a layer also shows its position in the range, from the smallest (0%) to the largest "
        "(100%).",
    )


def _reach(found: Diagnosis) -> Figure | None:
    """Bars from the smallest to the largest median of ``s`` that control could reach."""
    every = [(number, middle_reach(layer)) for number, layer in enumerate(found.layers, 1)]
    known = [(number, *reach) for number, reach in every if reach is not None]
    if not known:
        return None
    return {
        "type": "bar",
        "name": "range of control",
        "x": [number for number, *_ in known],
        "base": [low for _, low, _, _ in known],
        "y": [high - low for _, low, high, _ in known],
        "width": 0.7,
        "marker": {"color": ORANGE, "opacity": 0.35, "line": {"width": 0}},
        "customdata": [
            [low, high, "" if place is None else f", at {place:.0%}"]
            for _, low, high, place in known
        ],
        "hovertemplate": "%{customdata[0]:.2f} to %{customdata[1]:.2f}%{customdata[2]}",
    }


def _line(found: Diagnosis, name: str, measure: str, look: Figure) -> Figure:
    """Return a measure by layer, for a logarithmic axis."""
    return curve(_numbers(found), positive(_values(found, measure)), name, **look)


def _values(found: Diagnosis, measure: str) -> list[float]:
    return [getattr(layer, measure) for layer in found.layers]


def _rank(found: Diagnosis) -> Drawn:
    live = [layer.channels - len(layer.dead) for layer in found.layers]
    widest = max(_values(found, "channels"))
    traces = [
        curve(_numbers(found), positive(live), "live dimensions", **_SIDE),
        _line(found, "effective rank", "effective_rank", _MAIN),
        _line(found, "of what tells nodes apart", "contrast_rank", _THIRD),
    ]
    return Drawn(
        "Effective rank",
        _figure(traces, log_axis([1, widest], range=[-0.05, math.log10(1.1 * widest)])),
        _says("Effective rank", _values(found, "effective_rank")),
        "The number of directions in which nodes differ. A rank of 1 leaves one number per node.",
    )


def _distance(found: Diagnosis) -> Drawn:
    traces = [
        _line(found, "distance", "distance", _SIDE),
        _line(found, "over the norm", "relative_distance", _MAIN),
        _line(found, "contrast", "contrast", _THIRD),
    ]
    return Drawn(
        "Distance to the eigenspace",
        _log(traces),
        _says("Distance to the eigenspace over the norm", _values(found, "relative_distance")),
        "Contrast: the share of the norm that tells the nodes of a component apart, without "
        "constants.",
    )


def _energy(found: Diagnosis) -> Drawn:
    traces = [
        _line(found, "plain", "dirichlet_energy", _SIDE),
        _line(found, "normalized", "normalized_dirichlet_energy", _MAIN),
    ]
    return Drawn(
        "Dirichlet energy",
        _log(traces),
        _says("Normalized Dirichlet energy", _values(found, "normalized_dirichlet_energy")),
        "How much neighbours differ; the normalized energy does not depend on the scale.",
    )


def _norm(found: Diagnosis) -> Drawn:
    traces = [_line(found, "norm", "norm", _MAIN), _line(found, "of an entry", "size", _SIDE)]
    return Drawn(
        "Feature norm",
        _log(traces),
        _says("Norm of the features", _values(found, "norm")),
        f"Norm of an entry: root mean square; below {found.thresholds.faded:g} a layer counts as "
        "faded.",
    )


def _gradient(found: Diagnosis) -> Drawn:
    norms = _values(found, "gradient_norm")
    limit = found.thresholds.gradient * norms[-1]
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": limit, "y1": limit}
    line["line"] = {"color": GREY, "width": 1.5, "dash": "dash"}
    traces = [_line(found, "gradient", "gradient_norm", _MAIN)]
    return Drawn(
        "Gradient norm",
        _log(traces, limit or math.inf, shapes=[line] if limit else []),
        _says("Norm of the gradient", norms),
        f"Gradient of {found.target}. Below the dashed line, {found.thresholds.gradient:g} of the "
        "last layer's, it counts as vanishing, unless a shortcut brings it to the input.",
    )


def _says(what: str, values: Sequence[float | None]) -> str:
    """Describe a curve for screen readers."""
    known = [value for value in values if value is not None]
    if not known:
        return f"{what} by layer: no dimension is alive"
    ends = f"{known[0]:.3g} in the first layer, {known[-1]:.3g} in the last"
    return (
        f"{what} by layer: {ends}, between {min(known):.3g} and {max(known):.3g}; the numbers are "
        "in the table of layers"
    )
