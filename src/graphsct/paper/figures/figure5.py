"""Figure 5, ours: the test score of networks whose layers have the wanted smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphsct.plotting.style import BLUE, ORANGE
from graphsct.remedies.wanted import Panel, ScoredRuns, read_panels
from graphsct.training.significance import interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["WantedSmoothness", "draw", "wanted_smoothness"]

_COLOURS = {2: BLUE, 8: ORANGE}
_COLUMNS = 3
_ROOM = 8  # points of test score above and below all means


@dataclass(frozen=True)
class WantedSmoothness:
    """The data of figure 5.

    Args:
        panels: the networks of each data set and depth
    """

    panels: Sequence[Panel]

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per network."""
        rows = [
            (panel, layers, target, runs)
            for panel in self.panels
            for (layers, target), runs in panel.networks.items()
        ]
        return {
            "data": [panel.data for panel, *_ in rows],
            "homophily": [panel.homophily for panel, *_ in rows],
            "depth": [panel.depth for panel, *_ in rows],
            "layers": [layers for _, layers, *_ in rows],
            "target": ["" if target is None else target for *_, target, _ in rows],
            "test_mean": [runs.mean for *_, runs in rows],
            "margin": [_margin(runs) for *_, runs in rows],
            "smoothness": [runs.smoothness for *_, runs in rows],
            "seeds": [len(runs.test) for *_, runs in rows],
        }


def wanted_smoothness() -> WantedSmoothness:
    """Read the stored runs."""
    return WantedSmoothness(read_panels())


def draw(data: WantedSmoothness) -> Figure:
    """Draw one panel for each data set, a curve for each depth."""
    from matplotlib.figure import Figure

    groups: dict[str, list[Panel]] = {}
    for panel in data.panels:
        groups.setdefault(panel.title, []).append(panel)
    lines = -(-len(groups) // _COLUMNS)
    canvas = Figure(figsize=(4.6 * _COLUMNS, 3.9 * lines + 0.6), layout="constrained")
    grid = canvas.subplots(lines, _COLUMNS, squeeze=False)
    for axes in grid.flat[len(groups) :]:
        axes.remove()
    for (title, panels), axes in zip(groups.items(), grid.flat, strict=False):
        for panel in panels:
            _draw_depth(axes, panel)
        means = [runs.mean for panel in panels for runs in panel.networks.values()]
        inside = max(0, min(means) - _ROOM), min(102, max(means) + _ROOM)  # intervals may be wider
        axes.set(title=title, xlim=(0, 1.02), ylim=inside, xlabel="smoothness  $s$")
    for line in grid:
        line[0].set_ylabel("test score, %")
    handles: dict[str, Any] = {}
    for axes in canvas.axes:
        found, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, found, strict=True))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return canvas


def _draw_depth(axes: Axes, panel: Panel) -> None:
    colour, depth = _COLOURS[panel.depth], panel.depth
    for layers, line, words in (("all", "-", "all layers"), ("last", ":", "the last layer")):
        points = panel.curve(layers)
        x, y = list(points), [runs.mean for runs in points.values()]
        axes.plot(x, y, line, color=colour, label=f"{depth} layers, wanted in {words}")
        if layers == "all":
            margins = [_margin(runs) for runs in points.values()]
            low, high = zip(*((m - d, m + d) for m, d in zip(y, margins, strict=True)), strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    for layers, mark, words in (("none", "D", "plain"), ("learned", "*", "learned")):
        runs = panel.networks[layers, None]
        axes.errorbar(
            runs.smoothness,
            runs.mean,
            _margin(runs),
            fmt=mark,
            color=colour,
            markersize=13 if mark == "*" else 8,
            markeredgecolor="white",
            label=f"{depth} layers, {words}",
        )


def _margin(runs: ScoredRuns) -> float:
    """Half the width of the 95 % confidence interval of the mean."""
    low, high = interval(runs.test) or (0.0, 0.0)
    return (high - low) / 2
