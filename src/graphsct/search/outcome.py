"""The records of a study: outcomes of trials, their counts, and the rows of their table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphsct.records import Record
from graphsct.search.evaluate import Score
from graphsct.training.selection import Criterion

__all__ = ["Counts", "Outcome", "TrialRow"]


@dataclass(frozen=True)
class Outcome(Record, sparse=True):
    """The outcome of a trial or of a finalist: means over its runs, at the best epoch of each.

    Args:
        diverged: whether a run diverged; if so, there are no scores
        val_score: metric of the validation nodes
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

    def rank(self, by: Criterion) -> tuple[float, float]:
        """A key to sort by, the best first."""
        assert self.val_score is not None and self.val_loss is not None
        return by.rank(self.val_score, self.val_loss)


@dataclass(frozen=True)
class Counts:
    """How many trials are over and how they ended.

    Args:
        trials: number of trials that are over
        pruned: number of trials that were pruned
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
        val_score: metric of the validation nodes
        val_loss: validation loss
        best_epoch: number of the best epoch
        seconds: duration of training
        final_val_score: metric of the validation nodes in the finals
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
