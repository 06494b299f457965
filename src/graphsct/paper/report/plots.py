"""Interactive figures of a report as Plotly's JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphsct.pages.tables import Table
from graphsct.paper.paper import DATASETS, MODELS
from graphsct.paper.tables.replays import ReplayRow
from graphsct.paper.tables.rows import AccuracyRow, Gain
from graphsct.plotting.interactive import BLUE, MARGIN, ORANGE, Figure, curve

__all__ = ["BASE", "SCT", "depth_plots", "gain_plots", "trial_plots"]

BASE, SCT = ORANGE, BLUE


def depth_plots(table: Table[AccuracyRow]) -> dict[str, Figure]:
    """Accuracy by depth, a figure for each data set and model, by their titles."""
    return {
        f"{DATASETS[data]}, {MODELS[model]}": _depth_plot(
            [row for row in table.rows if (row.dataset, row.model) == (data, model)]
        )
        for data, model in dict.fromkeys((row.dataset, row.model) for row in table.rows)
    }


def _depth_plot(rows: list[AccuracyRow]) -> Figure:
    traces = []
    for sct in (False, True):
        own = [row for row in rows if row.sct is sct]
        traces += [_printed(own, sct), _ours([row for row in own if row.n], sct)]
    return _small(traces, "layers", "category", "test accuracy, %")


def _printed(rows: list[AccuracyRow], sct: bool) -> Figure:
    y, look = [row.paper for row in rows], {"dash": "dot", "width": 1.5}
    return _trace("paper", rows, y, sct, look, "-open", hover="%{y:.1f}")


def _ours(rows: list[AccuracyRow], sct: bool) -> Figure:
    """Means with their 95% intervals, which a single run does not have."""
    known = [(row.ours, row.low, row.high) for row in rows if row.ours is not None]
    return _trace(
        "ours",
        rows,
        [row.ours for row in rows],
        sct,
        {"width": 2.5},
        hover="%{y:.1f} ± %{customdata[0]:.1f}, %{customdata[1]} runs",
        customdata=[[row.std, row.n] for row in rows],
        error_y=_bars(
            [0 if low is None else ours - low for ours, low, _ in known],
            [0 if high is None else high - ours for ours, _, high in known],
        ),
    )


def _trace(
    whose: str,
    rows: list[AccuracyRow],
    y: Sequence[float | None],
    sct: bool,
    line: Figure,
    kind: str = "",
    **more: Any,
) -> Figure:
    colour, mark = (SCT, "square") if sct else (BASE, "circle")
    more |= {"line": {"color": colour, **line}, "marker": {"symbol": mark + kind, "size": 9}}
    name = f"{whose}, SCT" if sct else f"{whose}, no SCT"
    return curve([str(row.depth) for row in rows], y, name, colour, **more)


def _bars(below: list[float], above: list[float]) -> Figure:
    return {"array": above, "arrayminus": below, "symmetric": False, "thickness": 1.5}


def trial_plots(table: Table[ReplayRow]) -> dict[str, Figure]:
    """Expected best validation accuracy by the number of trials, one figure per pair of models."""
    pairs: dict[str, list[ReplayRow]] = {}
    for row in table.rows:
        title = f"{row.data_title}, {MODELS[row.model]}, {row.depth} layers"
        pairs.setdefault(title, []).append(row)
    return {
        title: _trial_plot(rows)
        for title, rows in pairs.items()
        if all(row.protocol for row in rows)
    }


def _trial_plot(rows: list[ReplayRow]) -> Figure:
    traces = []
    for row in rows:
        name, colour = ("SCT", SCT) if row.sct else ("no SCT", BASE)
        trials = list(range(1, len(row.expected) + 1))
        traces.append(curve(trials, row.expected, name, colour, mode="lines", hover="%{y:.1f}"))
    return _small(traces, "trials", "log", "expected best validation accuracy, %")


def _small(traces: list[Figure], x: str, kind: str, y: str) -> Figure:
    """A small figure, with the titles of its axes and the kind of the horizontal one."""
    return {
        "data": traces,
        "layout": {
            "height": 280,
            "showlegend": False,
            "margin": MARGIN,
            "xaxis": {"type": kind, "title": {"text": x}},
            "yaxis": {"title": {"text": y}},
        },
    }


def gain_plots(tables: Iterable[Table[AccuracyRow]]) -> dict[str, Figure]:
    """The gains of SCT in every pair of some tables, one figure per data set, by its title."""
    plots: dict[str, list[tuple[AccuracyRow, Gain]]] = {}
    for row in (row for table in tables for row in table.rows):
        if row.gain:
            plots.setdefault(row.data_title, []).append((row, row.gain))
    return {title: _gain_plot(pairs) for title, pairs in plots.items()}


def _gain_plot(pairs: list[tuple[AccuracyRow, Gain]]) -> Figure:
    """Our gains with their intervals, and the paper's."""
    rows, gains = [row for row, _ in pairs], [gain for _, gain in pairs]
    names = [_name(row) for row in rows]
    ours = {
        "type": "scatter",
        "mode": "markers",
        "name": "ours",
        "x": [gain.mean for gain in gains],
        "y": names,
        "customdata": [[gain.low, gain.high, gain.verdict] for gain in gains],
        "error_x": _bars(
            [gain.mean - gain.low for gain in gains], [gain.high - gain.mean for gain in gains]
        ),
        "marker": {"color": SCT, "symbol": "square", "size": 8},
        "hovertemplate": "%{x:+.1f} [%{customdata[0]:+.1f}, %{customdata[1]:+.1f}], "
        "%{customdata[2]}",
    }
    paper = {
        "type": "scatter",
        "mode": "markers",
        "name": "paper",
        "x": [row.paper_gain for row in rows],
        "y": names,
        "marker": {"color": BASE, "symbol": "diamond-open", "size": 9, "line": {"width": 2}},
        "hovertemplate": "%{x:+.1f}",
    }
    return {
        "data": [paper, ours],
        "layout": {
            "height": 80 + 24 * max(2, len(rows)),
            "showlegend": False,
            "margin": MARGIN,
            "xaxis": {
                "title": {"text": "points gained by SCT"},
                "rangemode": "tozero",
                "zerolinewidth": 2,
            },
            "yaxis": {"range": [len(rows) - 0.5, -0.5], "dtick": 1},
        },
    }


def _name(row: AccuracyRow) -> str:
    """The model, its layers, and its activation if that is SReLU."""
    parts = [MODELS[row.model], row.depth, "SReLU" if row.activation == "srelu" else None]
    return " ".join(str(part) for part in parts if part)
