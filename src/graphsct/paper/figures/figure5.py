"""Figure 5, ours: the test score of networks whose layers have the wanted smoothness.

The networks are those of ``benchmarks/smoothness.py``, stored in the package graphsct-results.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import stats

from graphsct.datasets.catalog import CATALOG
from graphsct.extras import stored_results
from graphsct.plotting.style import BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RUNS", "ScoredRuns", "WantedSmoothness", "draw", "title", "wanted_smoothness"]

#: The file of the stored runs.
RUNS = "runs.csv"
_COLOURS = {2: BLUE, 8: ORANGE}
_COLUMNS = 3
_ROOM = 8  # points of test score above and below all means


@dataclass(frozen=True)
class ScoredRuns:
    """The runs of one network, one per seed.

    Args:
        test: test scores
        val: their mean validation score
        smoothness: mean smoothness of all layers after training
    """

    test: tuple[float, ...]
    val: float
    smoothness: float

    @property
    def mean(self) -> float:
        """Mean test score in percent."""
        return 100 * statistics.fmean(self.test)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % confidence interval of the mean."""
        return _margin([100 * score for score in self.test])

    def gain(self, other: ScoredRuns) -> str:
        """The mean difference to the runs of another network with the same seeds."""
        pairs = zip(self.test, other.test, strict=True)
        differences = [100 * (own - others) for own, others in pairs]
        mean, margin = statistics.fmean(differences), _margin(differences)
        return f"{mean:+.1f} [{mean - margin:+.1f}, {mean + margin:+.1f}]"

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {100 * statistics.stdev(self.test):.1f}"


def _margin(values: list[float]) -> float:
    spread: float = statistics.stdev(values) / len(values) ** 0.5
    return spread * float(stats.t.ppf(0.975, len(values) - 1))


#: The networks on one data set: runs by the layers that have the wanted smoothness, and by it.
Panel = Mapping[tuple[str, float | None], ScoredRuns]


@dataclass(frozen=True)
class WantedSmoothness:
    """The data of figure 5.

    Args:
        panels: the networks of each data set and depth
    """

    panels: Mapping[tuple[str, int], Panel]

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per network."""
        rows = [
            (name, depth, layers, "" if target is None else target, runs)
            for (name, depth), panel in self.panels.items()
            for (layers, target), runs in panel.items()
        ]
        return {
            "data": [row[0] for row in rows],
            "depth": [row[1] for row in rows],
            "layers": [row[2] for row in rows],
            "target": [row[3] for row in rows],
            "test_mean": [row[4].mean for row in rows],
            "margin": [row[4].margin for row in rows],
            "smoothness": [row[4].smoothness for row in rows],
            "seeds": [len(row[4].test) for row in rows],
        }


def wanted_smoothness() -> WantedSmoothness:
    """Read the stored runs. A data set takes part with the seeds that all its networks have, if
    these are at least two.
    """
    with (stored_results("smoothness") / RUNS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    panels: dict[tuple[str, int], dict[tuple[str, float | None], dict[int, Any]]] = {}
    for row in rows:
        panel = panels.setdefault((row["data"], int(row["depth"])), {})
        target = float(row["target"]) if row["target"] else None
        panel.setdefault((row["layers"], target), {})[int(row["seed"])] = row
    shared = {key: _shared(panel) for key, panel in panels.items()}
    return WantedSmoothness({key: panel for key, panel in shared.items() if panel})


def _shared(panel: Mapping[tuple[str, float | None], Mapping[int, Any]]) -> Panel:
    seeds = set.intersection(*(set(runs) for runs in panel.values()))
    if len(seeds) < 2:
        return {}
    return {key: _scored(runs[seed] for seed in sorted(seeds)) for key, runs in panel.items()}


def _scored(rows: Iterable[Any]) -> ScoredRuns:
    own = list(rows)
    test = tuple(float(row["test"]) for row in own)
    val, smoothness = (
        statistics.fmean(float(row[name]) for row in own) for name in ("val", "smoothness")
    )
    return ScoredRuns(test, val, smoothness)


def title(name: str) -> str:
    """Title of a data set."""
    kind, _, share = name.partition("-")
    return f"generated, homophily {share}" if kind == "csbm" else CATALOG[name].title


def draw(data: WantedSmoothness) -> Figure:
    """Draw one panel for each data set, a curve for each depth."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for name, _ in data.panels))
    lines = -(-len(names) // _COLUMNS)
    canvas = Figure(figsize=(4.6 * _COLUMNS, 3.9 * lines + 0.6), layout="constrained")
    grid = canvas.subplots(lines, _COLUMNS, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    for name, axes in zip(names, grid.flat, strict=False):
        for (own, depth), panel in data.panels.items():
            if own == name:
                _draw_depth(axes, depth, panel)
        means = [
            runs.mean for key, own in data.panels.items() if key[0] == name for runs in own.values()
        ]
        inside = max(0, min(means) - _ROOM), min(100, max(means) + _ROOM)  # intervals may be wider
        axes.set(title=title(name), xlim=(0, 1.02), ylim=inside, xlabel="smoothness  $s$")
    for line in grid:
        line[0].set_ylabel("test score, %")
    handles: dict[str, Any] = {}
    for axes in canvas.axes:
        found, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, found, strict=True))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return canvas


def _draw_depth(axes: Axes, depth: int, panel: Panel) -> None:
    colour = _COLOURS[depth]
    for layers, line, words in (("all", "-", "all layers"), ("last", ":", "the last layer")):
        points = [(t, runs) for (own, t), runs in panel.items() if own == layers and t is not None]
        x, y = [t for t, _ in points], [runs.mean for _, runs in points]
        axes.plot(x, y, line, color=colour, label=f"{depth} layers, wanted in {words}")
        if layers == "all":
            margins = [runs.margin for _, runs in points]
            low, high = zip(*((m - d, m + d) for m, d in zip(y, margins, strict=True)), strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    for layers, mark, words in (("none", "D", "plain"), ("learned", "*", "learned")):
        runs = panel[layers, None]
        axes.errorbar(
            runs.smoothness,
            runs.mean,
            runs.margin,
            fmt=mark,
            color=colour,
            markersize=13 if mark == "*" else 8,
            markeredgecolor="white",
            label=f"{depth} layers, {words}",
        )
