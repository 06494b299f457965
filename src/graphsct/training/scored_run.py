"""What is kept of a run in a table of results."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from graphsct.records import Record
from graphsct.training.run import Run

__all__ = ["ScoredRun"]


@dataclass(frozen=True)
class ScoredRun(Record):
    """The scores of a run at the epoch that a rule selects.

    Args:
        select: the rule that selected the epoch, ``val_score`` or ``val_loss``
        seed: seed of the run
        split: number of the split, ``None`` if the data have a single one
        test_score: the metric of the test nodes
        val_score: the metric of the validation nodes
        val_loss: validation loss
        best_epoch: the selected epoch
        epochs: number of epochs trained
    """

    select: str
    seed: int
    split: int | None
    test_score: float
    val_score: float
    val_loss: float
    best_epoch: int
    epochs: int

    @classmethod
    def of(cls, run: Run, split: int | None) -> Self:
        """The scores of a run on a split."""
        own = {each.name: getattr(run, each.name) for each in fields(cls)[3:]}
        return cls(run.config.select, run.config.seed, split, **own)
