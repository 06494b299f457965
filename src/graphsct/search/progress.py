"""The progress of a search."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from graphsct.search.study import Study

__all__ = ["SearchProgress"]

_LOG = logging.getLogger(__name__)
_PAUSE = 60.0  # seconds between two logged lines


class SearchProgress:
    """A context: one line with the trials, the best score so far and the time left.

    On a terminal the line is updated in place. If standard error is not a terminal, as in a batch
    job, the line is logged, at most once a minute.

    Args:
        trials: total number of trials
        title: text before the numbers
        shown: whether to show anything
    """

    def __init__(self, trials: int, title: str, *, shown: bool = True) -> None:
        self.trials, self.title, self.shown = trials, title, shown
        self._bar: Any = None
        self._first: int | None = None  # number of trials at the start
        self._started = self._logged = time.perf_counter()

    def __enter__(self) -> Self:
        from rich import progress as rich
        from rich.console import Console

        console = Console(stderr=True)
        if self.shown and console.is_terminal:
            self._bar = rich.Progress(
                rich.SpinnerColumn(),
                rich.TextColumn("{task.description}", markup=False),
                rich.BarColumn(bar_width=20),
                rich.TextColumn("{task.fields[numbers]}"),
                rich.TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=self.trials, numbers="")
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, study: Study) -> None:
        """Show the state of a study."""
        if self._first is None:
            self._first = study.counts().trials
        if self._bar is not None:
            done, numbers = self._numbers(study, self._first)
            self._bar.update(self._task, completed=done, numbers=numbers)
        elif self.shown and time.perf_counter() - self._logged >= _PAUSE:
            _, numbers = self._numbers(study, self._first)
            _LOG.info(f"{self.title}: {numbers}")
            self._logged = time.perf_counter()

    def _numbers(self, study: Study, first: int) -> tuple[int, str]:
        counts, best = study.counts(), study.best_score()
        done = counts.trials
        numbers = f"{done}/{self.trials} trials, {counts.pruned} given up"
        if counts.finalists:
            numbers += f", {counts.finalists} in the finals"
        if best is not None:
            numbers += f", best {study.criterion.show(best)}"
        if first < done < self.trials:  # then come the finals, if there are any
            pace = (time.perf_counter() - self._started) / (done - first)
            left = timedelta(seconds=round(pace * (self.trials - done)))
            numbers += f", about {left} left"
        return done, numbers
