"""The demo's training figures: accuracy by depth, and the curves of all runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphsct.paper.depth import DepthStudy
from graphsct.plotting.curves import label_log_axis
from graphsct.plotting.saving import save, to_columns
from graphsct.plotting.style import BLACK, BLUE, styled
from graphsct.training.compare import Comparison
from graphsct.training.run import Run
from graphsct.training.seeds import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TrainingCurves", "draw_accuracy", "draw_curves", "write_study"]

_RULES = {"val_loss": "validation loss", "val_score": "validation accuracy"}
_PANELS = {"val_score": "validation accuracy, %", "val_loss": "validation loss"}


class _Look(NamedTuple):
    """How a model is drawn, and on which side of its tick."""

    name: str
    colour: str
    mark: str
    side: int


_WITHOUT, _WITH = _Look("GCN", BLACK, "o", -1), _Look("GCN-SCT", BLUE, "s", 1)


def write_study(study: DepthStudy, folder: Path) -> list[Path]:
    """Write both figures as PNG, SVG and CSV."""
    curves = TrainingCurves(study)
    with styled():
        return [
            *save("accuracy", draw_accuracy(study), study.columns(), folder),
            *save("curves", draw_curves(curves), curves.columns(), folder),
        ]


@dataclass(frozen=True)
class TrainingCurves:
    """Every epoch of a study.

    Two runs that differ only in the rule that selects the epoch have the same history until one of
    them stops, so the longer one stands for both.
    """

    study: DepthStudy

    @property
    def depths(self) -> list[int]:
        """The depths of the study."""
        return sorted({depth for _, depth in self.study.found})

    def runs(self, depth: int) -> list[tuple[_Look, list[Run]]]:
        """Return one run per seed, without control and with it."""
        rules = [_pair(self.study.found[select, depth]) for select in _RULES]
        return [
            (look, [max(runs, key=_length) for runs in zip(first.runs, other.runs, strict=True)])
            for (look, first), (_, other) in zip(*rules, strict=True)
        ]

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per epoch."""
        rows = [
            {"depth": depth, "model": look.name, "seed": run.config.seed, **record._asdict()}
            for depth in self.depths
            for look, runs in self.runs(depth)
            for run in runs
            for record in run.history
        ]
        return to_columns(rows)


def draw_accuracy(study: DepthStudy) -> Figure:
    """Draw test accuracy by depth, one panel per rule, with all seeds and mean ± deviation."""
    from matplotlib.figure import Figure

    depths = sorted({depth for _, depth in study.found})
    canvas = Figure(figsize=(11, 5.6), layout="constrained")
    panels = canvas.subplots(1, len(_RULES), sharey=True)
    for axes, (select, rule) in zip(panels, _RULES.items(), strict=True):
        for place, depth in enumerate(depths):
            for look, results in _pair(study.found[select, depth]):
                _draw_seeds(axes, look, results, place)
        axes.set_xticks(range(len(depths)), [f"{depth} layers" for depth in depths])
        axes.set(xlim=(-0.6, len(depths) - 0.4), ylim=(0, 105), title=f"epoch selected by {rule}")
    panels[0].set_ylabel("test accuracy, %")
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles[:2], labels[:2], loc="outside lower center", ncols=2)
    return canvas


def _draw_seeds(axes: Axes, look: _Look, results: Results, place: int) -> None:
    shares = np.array([100 * run.test_score for run in results.runs])
    x, mean, deviation = place + 0.16 * look.side, shares.mean(), 100 * results.test_std
    spread = x + np.linspace(-0.07, 0.07, len(shares))
    axes.scatter(spread, shares, s=26, marker=look.mark, color=look.colour, alpha=0.45, lw=0)
    bar = dict[str, Any](color=look.colour, markersize=10, capsize=6, label=look.name)
    axes.errorbar(x, mean, deviation, fmt=look.mark, **bar)
    side = dict[str, Any](ha="right" if look.side < 0 else "left", va="center")
    axes.text(x + 0.12 * look.side, mean, f"{mean:.1f}", color=look.colour, **side)


def draw_curves(curves: TrainingCurves) -> Figure:
    """Draw validation accuracy and loss by epoch, one line per seed, the selected epochs marked."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    canvas = Figure(figsize=(11, 7.4), layout="constrained")
    grid = canvas.subplots(len(_PANELS), len(curves.depths), sharex="col", squeeze=False)
    for column, depth in zip(grid.T, curves.depths, strict=True):
        for axes, (measure, label) in zip(column, _PANELS.items(), strict=True):
            _draw_runs(axes, curves, depth, measure)
            axes.set_ylabel(label if depth == curves.depths[0] else "")
        column[0].set(title=f"{depth} layers", ylim=(0, 105))
        column[1].set(yscale="log", xlabel="epoch")
        label_log_axis(column[1], (1, 3))
    marks = dict[str, Any](color="none", markeredgecolor=BLACK, markersize=9)
    handles = [Line2D([], [], color=look.colour, label=look.name) for look in (_WITHOUT, _WITH)]
    handles += [
        Line2D([], [], marker="D", markerfacecolor="white", label="selected by loss", **marks),
        Line2D([], [], marker="o", markerfacecolor=BLACK, label="selected by accuracy", **marks),
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=4)
    return canvas


def _draw_runs(axes: Axes, curves: TrainingCurves, depth: int, measure: str) -> None:
    scale = 100 if measure == "val_score" else 1
    for look, runs in curves.runs(depth):
        for run in runs:
            y = [scale * getattr(record, measure) for record in run.history]
            axes.plot(range(1, run.epochs + 1), y, color=look.colour, linewidth=1.2, alpha=0.55)
    for select, mark in (("val_loss", "D"), ("val_score", "o")):
        for look, results in _pair(curves.study.found[select, depth]):
            x = [run.best_epoch for run in results.runs]
            y = [scale * getattr(run, measure) for run in results.runs]
            face = look.colour if mark == "o" else "white"
            colours = dict[str, Any](edgecolors=look.colour, facecolors=face)
            axes.scatter(x, y, s=45, marker=mark, zorder=5, **colours)


def _length(run: Run) -> int:
    return run.epochs


def _pair(comparison: Comparison) -> list[tuple[_Look, Results]]:
    return list(zip((_WITH, _WITHOUT), comparison.parts, strict=True))[::-1]
