"""How far a search is, on a terminal."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from graphsct.search.study import Study

__all__ = ["SearchProgress", "show_score"]


class SearchProgress:
    """A context: one line with the trials, the best score so far and the time left.

    Nothing is shown if standard error is not a terminal.

    Args:
        trials: how many there shall be
        title: what stands before the numbers
        shown: whether to show anything
    """

    def __init__(self, trials: int, title: str, *, shown: bool = True) -> None:
        self.trials, self.title, self.shown = trials, title, shown
        self._bar: Any = None
        self._first: int | None = None  # trials that were there already

    def __enter__(self) -> Self:
        from rich import progress as rich
        from rich.console import Console

        console = Console(stderr=True)
        if self.shown and console.is_terminal:
            self._bar = rich.Progress(
                rich.SpinnerColumn(),
                rich.TextColumn("{task.description}"),
                rich.BarColumn(bar_width=20),
                rich.TextColumn("{task.fields[numbers]}"),
                rich.TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=self.trials, numbers="")
            self._bar.start()
            self._started = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, study: Study) -> None:
        """Show what a study has come to."""
        if self._bar is None:
            return
        counts, best = study.counts(), study.best_score()
        done = counts["trials"]
        self._first = done if self._first is None else self._first
        numbers = f"{done}/{self.trials} trials, {counts['pruned']} given up"
        if counts["finalists"]:
            numbers += f", {counts['finalists']} in the finals"
        if best is not None:
            numbers += f", best {show_score(best, study.select)}"
        if done > self._first:
            pace = (time.perf_counter() - self._started) / (done - self._first)
            left = timedelta(seconds=round(pace * max(0, self.trials - done)))
            numbers += f", about {left} left"
        self._bar.update(self._task, completed=done, numbers=numbers)


def show_score(score: float, select: str) -> str:
    """An accuracy in percent, or a loss.

    Example:
        >>> show_score(0.8225, "val_accuracy"), show_score(0.8225, "val_loss")
        ('82.25 %', '0.8225')
    """
    return f"{100 * score:.2f} %" if select == "val_accuracy" else f"{score:.4f}"
