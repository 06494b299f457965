"""The records of a study: the outcome of a trial, how many there are, and a row of their table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphsct.records import Record
from graphsct.search.evaluate import Score

__all__ = ["Counts", "Outcome", "TrialRow"]


@dataclass(frozen=True)
class Outcome(Record, sparse=True):
    """The outcome of a trial or of a finalist: means over its runs, at the best epoch of each.

    Args:
        diverged: whether a run diverged; there are no scores then
        val_score: validation accuracy
        val_loss: validation loss
        best_epoch: number of the best epoch
        seconds: duration of training
    """

    diverged: bool = False
    val_score: float | None = None
    val_loss: float | None = None
    best_epoch: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, score: Score) -> Outcome:
        """The outcome of runs that have a score."""
        return cls(**score._asdict())

    def rank(self, select: str) -> tuple[float, float]:
        """A key to sort by, the best first: the criterion, then the other measure."""
        assert self.val_score is not None and self.val_loss is not None
        key = (-self.val_score, self.val_loss)
        return key if select == "val_score" else key[::-1]


@dataclass(frozen=True)
class Counts:
    """How many trials are over and how they ended.

    Args:
        trials: number of trials that are over
        pruned: number of trials that were given up early
        failed: number of trials that diverged or ended every process
        seconds: duration of training, finals included
        finalists: number of trials in the finals
    """

    trials: int
    pruned: int
    failed: int
    seconds: float
    finalists: int


@dataclass(frozen=True)
class TrialRow(Record, flat=("chosen",)):
    """A trial that is over, as a line of ``trials.jsonl``; values that do not exist are ``None``.

    Args:
        trial: number of the trial
        state: ``complete``, ``pruned``, ``fail`` or ``diverged``
        val_score: validation accuracy
        val_loss: validation loss
        best_epoch: number of the best epoch
        seconds: duration of training
        final_val_score: validation accuracy in the finals
        final_val_loss: validation loss in the finals
        chosen: the settings in effect
    """

    trial: int
    state: str
    val_score: float | None
    val_loss: float | None
    best_epoch: float | None
    seconds: float | None
    final_val_score: float | None = None
    final_val_loss: float | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
