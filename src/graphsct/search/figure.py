"""The figure of a search: the score of every trial, and its dependence on each setting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphsct.plotting.saving import save
from graphsct.plotting.style import BLACK, BLUE, GREY, ORANGE, styled
from graphsct.search.finals import TIMES
from graphsct.search.outcome import TrialRow
from graphsct.training.metrics import METRICS
from graphsct.training.selection import Criterion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Trials", "draw_search", "write_search"]

_COLUMNS = 5


@dataclass(frozen=True)
class Trials:
    """The trials of a search.

    Args:
        rows: one per trial
        by: the criterion of the search
    """

    rows: list[TrialRow]
    by: Criterion

    @classmethod
    def read(cls, folder: Path) -> Trials:
        """Read the trials in the folder of a search."""
        lines = (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()
        best = json.loads((folder / "best.json").read_text(encoding="utf-8"))
        select, metric = best["task"]["select"], best["task"].get("metric", "accuracy")
        by = Criterion(select, METRICS[metric])
        return cls([TrialRow.from_json(line) for line in lines], by)

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per trial; a trial lacks settings that would not affect it."""
        rows = [row.to_dict() for row in self.rows]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def scores(self, state: str, having: str | None = None) -> tuple[list[TrialRow], Any]:
        """Return the trials with a state, and with a setting if one is given, and their scores."""
        rows = [row for row in self.rows if row.state == state]
        rows = [row for row in rows if having is None or having in row.chosen]
        return rows, self._scaled(rows, self.by.select)

    def _scaled(self, rows: list[TrialRow], name: str) -> Any:
        return np.array([self.by.scaled(getattr(row, name)) for row in rows])

    @property
    def best(self) -> TrialRow:
        """The trial with the best score, in the finals if there were any; the other measure
        decides between equal ones.
        """
        (rows, _), before = self.finals(), "final_"
        if not rows:
            (rows, _), before = self.scores("complete"), ""
        names = f"{before}val_score", f"{before}val_loss"
        return min(rows, key=lambda row: self.by.rank(*(getattr(row, name) for name in names)))

    def finals(self) -> tuple[list[TrialRow], Any]:
        """Return the trials that finished the finals, and their scores."""
        name = f"final_{self.by.select}"
        rows = [row for row in self.rows if getattr(row, name) is not None]
        return rows, self._scaled(rows, name)

    @property
    def settings(self) -> dict[str, list[Any]]:
        """The values of every setting that varies."""
        tried: dict[str, set[Any]] = {}
        for name, value in (pair for row in self.rows for pair in row.chosen.items()):
            tried.setdefault(name, set()).update({value} - {None})
        return {name: sorted(values) for name, values in tried.items() if len(values) > 1}


def write_search(folder: Path) -> list[Path]:
    """Draw the search in a folder as ``search.png`` and ``.svg``, with its trials as ``.csv``."""
    trials = Trials.read(folder)
    with styled():
        return save("search", draw_search(trials), trials.columns(), folder)


def draw_search(trials: Trials) -> Figure:
    """Draw the score of every trial and the best so far; below, the scores by each setting."""
    from matplotlib.figure import Figure

    settings = trials.settings
    rows = -(-len(settings) // _COLUMNS)
    canvas = Figure(figsize=(12, 4.2 + 2.9 * rows), layout="constrained")
    grid = canvas.add_gridspec(1 + rows, _COLUMNS, height_ratios=[1.35] + [1] * rows)
    top = canvas.add_subplot(grid[0, :])
    _draw_history(top, trials)
    for place, (name, values) in enumerate(settings.items()):
        axes = canvas.add_subplot(grid[1 + place // _COLUMNS, place % _COLUMNS])
        _draw_setting(axes, trials, name, values)
        axes.set_ylim(top.get_ylim())
        if place % _COLUMNS:
            axes.tick_params(labelleft=False)
    return canvas


def _draw_history(axes: Axes, trials: Trials) -> None:
    done, scores = trials.scores("complete")
    given_up, low_scores = trials.scores("pruned")
    x = [row.trial for row in done]
    better = np.maximum if trials.by.larger else np.minimum
    order = np.argsort(x)
    best = better.accumulate(scores[order])
    axes.scatter([row.trial for row in given_up], low_scores, label="given up early", **_HOLLOW)
    axes.scatter(x, scores, label="trained to the end", **_FULL)
    axes.step(np.array(x)[order], best, where="post", color=BLACK, lw=2, label="best so far")
    rows, finals = trials.finals()
    if rows:
        at = [row.trial for row in rows]
        axes.scatter(at, finals, label=f"{TIMES} times the runs", **_FINALIST)
    axes.set(xlabel="trial", ylabel=trials.by.heading)
    axes.locator_params(axis="x", integer=True)
    low, high = _limits(trials, scores)
    axes.set_ylim(low, high)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, columnspacing=1.2)
    every = np.concatenate([scores, low_scores, finals])
    outside = int(((every < low) | (every > high)).sum())
    if outside:
        axes.set_title(f"{outside} worse trials are off the scale", loc="left", fontsize=12)


_FULL: dict[str, Any] = dict(s=34, color=BLUE, alpha=0.75, lw=0, zorder=3)
_FINALIST: dict[str, Any] = dict(s=60, marker="D", color=ORANGE, lw=0, zorder=4)
_HOLLOW: dict[str, Any] = dict(s=26, facecolors="none", edgecolors=GREY, lw=1)


def _limits(trials: Trials, scores: Any) -> tuple[float, float]:
    """Limits from the best to below the worst quarter, so that good trials can be told apart."""
    sign = 1 if trials.by.larger else -1
    best, quarter = (sign * scores).max(), np.quantile(sign * scores, 0.25)
    room = best - quarter or 0.1 * abs(best) or 1.0
    worst = max((sign * scores).min(), quarter - room)
    low, high = sorted((sign * (best + 0.15 * room), sign * (worst - 0.35 * room)))
    return low, high


def _draw_setting(axes: Axes, trials: Trials, name: str, values: list[Any]) -> None:
    generator = np.random.default_rng(0)
    for state, look in (("pruned", _HOLLOW), ("complete", _FULL)):
        rows, scores = trials.scores(state, having=name)
        x = np.array([values.index(row.chosen[name]) for row in rows], dtype=float)
        x += generator.uniform(-0.2, 0.2, len(x))
        axes.scatter(x, scores, **look)
    if trials.best in rows:
        best = rows.index(trials.best)
        ring = dict[str, Any](s=110, facecolors="none", edgecolors=ORANGE, lw=2.2, zorder=4)
        axes.scatter(x[best], scores[best], **ring)
    labels = [_short(value) for value in values]
    axes.set_xticks(range(len(values)), labels, fontsize=10.5)
    if len(labels) > 5 or (len(labels) > 3 and max(map(len, labels)) > 4):
        axes.tick_params(axis="x", labelrotation=60)
    axes.set_title(name.replace("_", " "), fontsize=12)
    axes.set_xlim(-0.6, len(values) - 0.4)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
