"""The figures of a leaderboard: scores, ranks and energies by depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from graphsct.plotting.interactive import GREY, Drawn, Figure, curve, layout, log_axis, share_scales
from graphsct.remedies import FAMILIES, REMEDIES
from graphsct.remedies.board_cell import BoardCell
from graphsct.training.significance import interval

__all__ = ["depth_plots"]

# Colours near Okabe and Ito's that stand out on white and on black; marks differ as well.
_COLOURS = ("#DD6510", "#3B8FD4", "#009E73", "#CC79A7", "#B8960C")
_MARKS = ("circle", "square", "diamond", "cross", "triangle-up")
_SHARES = ((0.6, 1.0), (0.3, 0.5), (0.0, 0.2))  # of the height, from the top

Lines = dict[str, list[BoardCell]]


class _Style(NamedTuple):
    """How the lines of a remedy look in each panel."""

    title: str
    colour: str
    mark: str


def depth_plots(cells: Sequence[BoardCell]) -> list[Drawn]:
    """Test score, effective rank and energy by depth, one figure per family of remedies; each also
    shows the model without a remedy.

    Args:
        cells: cells with one data set and model
    """
    done = sorted((cell for cell in cells if cell.runs), key=lambda cell: cell.key.depth)
    by_remedy = {name: [c for c in done if c.key.remedy == name] for name in REMEDIES}
    found = []
    for family, changes in FAMILIES.items():
        names = [n for n, own in by_remedy.items() if own and _of(n, family)]
        if names:
            panels = list(_panels({name: by_remedy[name] for name in ["none", *names]}))
            found.append((f"Remedies that change {changes}", panels))
    for neighbours in zip(*(panels for _, panels in found), strict=True):
        share_scales(neighbours)
    label = "Test score, effective rank and Dirichlet energy by depth; scores are in the table"
    return [Drawn(title, _stacked(panels), f"{title}. {label}") for title, panels in found]


def _of(name: str, family: str) -> bool:
    return REMEDIES[name].family == family and name != "none"


def _panels(lines: Lines) -> Iterator[Figure]:
    """Three figures of the same remedies."""
    styles = {
        name: _Style(
            REMEDIES[name].title,
            GREY if name == "none" else _COLOURS[number % len(_COLOURS)],
            _MARKS[number // len(_COLOURS) % len(_MARKS)],
        )
        for number, name in enumerate(lines)
    }
    metric = next(cell.measure.heading for own in lines.values() for cell in own)
    scores = [trace for name, own in lines.items() for trace in _scores(own, styles[name])]
    yield _panel(f"test {metric}", scores, {})
    for title, of in _MEASURES.items():
        traces = [_measure(own, styles[name], of) for name, own in lines.items()]
        yield _panel(title, traces, log_axis(y for trace in traces for y in trace["y"]))


def _panel(title: str, traces: list[Figure], axis: Figure) -> Figure:
    return {"data": traces, "layout": {"title": title, "yaxis": axis}}


def _scores(cells: Sequence[BoardCell], style: _Style) -> tuple[Figure, Figure]:
    """Means with the area of their 95% intervals; a single run has none."""
    ends = [(str(cell.key.depth), interval(cell.scores())) for cell in cells]
    known = [(depth, *found) for depth, found in ends if found is not None]
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [depth for depth, *_ in (*known, *reversed(known))],
        "y": [high for _, _, high in known] + [low for _, low, _ in reversed(known)],
        "fill": "toself",
        "fillcolor": f"{style.colour}2E",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": style.title,
    }
    return band, _line(cells, [cell.mean for cell in cells], style, hover="%{y:.1f}")


def _measure(cells: Sequence[BoardCell], style: _Style, of: Callable[[BoardCell], float]) -> Figure:
    known = [cell for cell in cells if cell.layers]
    values = [value if (value := of(cell)) > 0 else None for cell in known]
    return _line(known, values, style, showlegend=False)


_MEASURES: dict[str, Callable[[BoardCell], float]] = {
    "effective rank": lambda cell: cell.layers[-1].effective_rank,
    "normalized Dirichlet energy": lambda cell: cell.layers[-1].normalized_dirichlet_energy,
}


def _line(
    cells: Sequence[BoardCell], values: Sequence[float | None], style: _Style, **more: Any
) -> Figure:
    depths = [str(cell.key.depth) for cell in cells]
    more = {"legendgroup": style.title, **more}
    return curve(depths, values, style.title, style.colour, mark=style.mark, **more)


def _stacked(panels: Sequence[Figure]) -> Figure:
    """Panels above each other, with one axis of depths and one legend."""
    traces, axes, titles = list[Figure](), dict[str, Any](), list[Figure]()
    for number, (panel, share) in enumerate(zip(panels, _SHARES, strict=True), 1):
        name = "" if number == 1 else str(number)
        traces += [{**trace, "yaxis": f"y{name}"} for trace in panel["data"]]
        axes[f"yaxis{name}"] = {
            **panel["layout"]["yaxis"],
            "domain": share,
            "tickfont": {"size": 11},
        }
        titles.append(_title(panel["layout"]["title"], share[1]))
    depths = sorted({int(depth) for trace in traces for depth in trace["x"]})
    axes["xaxis"] = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [str(depth) for depth in depths],
        "title": {"text": "layers"},
        "anchor": f"y{len(panels)}",
    }
    shown = sum(trace.get("showlegend", True) for trace in traces)
    whole = layout(540 + 22 * shown, annotations=titles, **axes)
    return {"data": traces, "layout": whole | {"legend": {**whole["legend"], "y": 1.08}}}


def _title(text: str, height: float) -> Figure:
    """The title of a panel, above its left end."""
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": height}
    return {"text": text, **place, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
