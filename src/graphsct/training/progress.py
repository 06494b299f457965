"""The progress of training on a terminal."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, Self

from graphsct.training.run import Epoch

__all__ = ["Progress"]


class Progress:
    """A callback and context: one line with the epoch, the loss, both scores and time left.

    Training may stop early, so the time left is the longest it can take. Nothing is shown if
    standard error is not a terminal.

    Args:
        runs: number of runs, one after another
        epochs: maximum number of epochs of each run
        title: text before the numbers
    """

    def __init__(self, runs: int, epochs: int, title: str = "training") -> None:
        from rich.console import Console

        self.runs = runs
        self.epochs = epochs
        self.title = title
        self._console = Console(stderr=True)
        self._bar: Any = None
        self._run = 0
        self._seen = 0
        self._started = time.perf_counter()

    def __enter__(self) -> Self:
        from rich import progress as rich

        if self._console.is_terminal:
            self._bar = rich.Progress(
                rich.TextColumn("{task.description}", markup=False),
                rich.BarColumn(bar_width=20),
                rich.TextColumn("{task.fields[numbers]}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(
                self._label(), total=self.runs * self.epochs, numbers=""
            )
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def next_run(self) -> None:
        """Count a run as finished, whatever its number of epochs."""
        self._run += 1
        if self._bar is not None and self._run < self.runs:
            self._bar.update(
                self._task, completed=self._run * self.epochs, description=self._label()
            )

    def __call__(self, record: Epoch) -> None:
        """Show an epoch."""
        self._seen += 1
        if self._bar is None:
            return
        done = self._run * self.epochs + record.epoch
        pace = (time.perf_counter() - self._started) / self._seen
        left = timedelta(seconds=round(pace * (self.runs * self.epochs - done)))
        numbers = (
            f"epoch {record.epoch}/{self.epochs}  loss {record.train_loss:.3f}  "
            f"train {record.train_score:.3f}  val {record.val_score:.3f}  at most {left} left"
        )
        self._bar.update(self._task, completed=done, numbers=numbers)

    def _label(self) -> str:
        return self.title if self.runs == 1 else f"{self.title} {self._run + 1}/{self.runs}"
