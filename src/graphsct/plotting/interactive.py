"""Interactive figures as Plotly's JSON: plain values, without the library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = [
    "BLUE",
    "GREY",
    "MARGIN",
    "ORANGE",
    "Drawn",
    "Figure",
    "curve",
    "layout",
    "literal",
    "log_axis",
    "positive",
    "share_scales",
]

Figure = dict[str, Any]

# These stand out on white and on black; markers and dashes say the same without colour.
ORANGE, BLUE, GREY = "#DD6510", "#3B8FD4", "#7C8790"
MARGIN = {"l": 8, "r": 8, "t": 12, "b": 8}
_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}


@dataclass(frozen=True)
class Drawn:
    """A figure on a page.

    Args:
        title: heading
        figure: Plotly's JSON
        label: alternative text for screen readers
        note: how to read the figure
    """

    title: str
    figure: Figure
    label: str
    note: str = ""


def layout(height: int = 300, *, legend: bool = True, **more: Any) -> Figure:
    """Return the layout that all figures share, extended by Plotly's options in ``more``."""
    return {
        "height": height,
        "margin": MARGIN,
        "showlegend": legend,
        "legend": _LEGEND,
        "hovermode": "x unified",
        **more,
    }


def curve(
    x: Sequence[Any],
    y: Sequence[float | None],
    name: str,
    colour: str,
    *,
    dash: str = "solid",
    mark: str = "circle",
    hover: str = "%{y:.4g}",
    **more: Any,
) -> Figure:
    """Return a line with a marker at each value; ``None`` is a gap."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "dash": dash, "width": 2},
        "marker": {"symbol": mark, "size": 6},
        "hovertemplate": hover,
        **more,
    }


def log_axis(values: Iterable[float | None], **more: Any) -> Figure:
    """Return a logarithmic axis with ticks at powers of ten, or at 1, 2, 5, 10, ... if it is short.

    Example:
        >>> log_axis([1, 30])["tickvals"], log_axis([1e-12, 1.0, None])["dtick"]
        ([1, 2, 5, 10, 20, 50], 2)
    """
    known = [value for value in positive(list(values)) if value is not None] or [1.0]
    low, high = math.log10(min(known)), math.log10(max(known))
    axis = {"type": "log", "exponentformat": "power", **more}
    if high - low >= 2:
        return {**axis, "dtick": math.ceil((high - low) / 6)}
    powers = range(math.floor(low) - 1, math.ceil(high) + 1)
    steps = [digit * 10**power for power in powers for digit in (1, 2, 5)]
    ticks = [step for step in steps if min(known) / 1.2 <= step <= max(known) * 2]
    enough = {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    return {**axis, **enough} if len(ticks) > 2 and high - low > 0.5 else axis


def literal(text: str) -> str:
    """Escape text that Plotly would otherwise read as HTML.

    Example:
        >>> literal("<b>&")
        '&lt;b&gt;&amp;'
    """
    return escape(text, quote=False)


def positive(values: Sequence[float | None]) -> list[float | None]:
    """Replace values that a logarithmic axis cannot show by gaps.

    Example:
        >>> positive([0.5, 0.0, None])
        [0.5, None, None]
    """
    return [
        value if value is not None and value > 0 and math.isfinite(value) else None
        for value in values
    ]


def share_scales(figures: Sequence[Figure]) -> None:
    """Give neighbouring figures the same y axis and colour scale, in place.

    Example:
        >>> one, other = ({"data": [curve([1], [y], "", BLUE)], "layout": layout()} for y in (0, 4))
        >>> share_scales([one, other])
        >>> one["layout"]["yaxis"] == other["layout"]["yaxis"] == {"range": [-0.2, 4.2]}
        True
    """
    shades = [t for figure in figures for t in figure["data"] if t["type"] == "heatmap"]
    if shades:
        _share_shades(shades)
    else:
        _share_heights(figures)


def _share_shades(traces: Sequence[Figure]) -> None:
    low, high = min(t["zmin"] for t in traces), max(t["zmax"] for t in traces)
    bars = [trace["colorbar"] for trace in traces if "tickvals" in trace["colorbar"]]
    ticks = {v: t for bar in bars for v, t in zip(bar["tickvals"], bar["ticktext"], strict=True)}
    for trace in traces:
        trace |= {"zmin": low, "zmax": high}
    for bar in bars:
        bar |= {"tickvals": list(ticks), "ticktext": list(ticks.values())}


def _share_heights(figures: Sequence[Figure]) -> None:
    axes = [figure["layout"].setdefault("yaxis", {}) for figure in figures]
    values = [y for f in figures for t in f["data"] for y in t["y"] if y is not None]
    lines = [s for f in figures for s in f["layout"].get("shapes", []) if s["type"] == "line"]
    values += [shape["y0"] for shape in lines]
    if not values or "range" in axes[0]:
        return
    if axes[0].get("type") == "log":
        for axis in axes:
            for name in ("dtick", "tickvals", "ticktext"):
                axis.pop(name, None)
            axis |= log_axis(values)
        values = [math.log10(value) for value in positive(values) if value is not None] or [0.0]
    room = 0.05 * (max(values) - min(values)) or 0.5
    for axis in axes:
        axis["range"] = [min(values) - room, max(values) + room]
