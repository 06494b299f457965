"""The criterion for the best epoch or trial, and early stopping, for one run or many at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from graphsct.training.metrics import METRICS, Metric

__all__ = ["Criterion", "Scores", "Selection"]


class Scores(NamedTuple):
    """The evaluation of k runs; shape of each: ``(k,)``.

    Args:
        val_loss: loss of the validation nodes
        train_score: the metric of the training nodes
        val_score: the metric of the validation nodes
    """

    val_loss: Tensor
    train_score: Tensor
    val_score: Tensor


@dataclass(frozen=True)
class Criterion:
    """What selects an epoch or a trial: the loss or the metric of the validation nodes.

    Args:
        select: ``val_loss`` or ``val_score``
        metric: the metric

    Example:
        >>> Criterion("val_score", METRICS["roc_auc"]).title, Criterion("val_loss").show(0.82251)
        ('validation ROC-AUC', '0.8225')
    """

    select: str
    metric: Metric = METRICS["accuracy"]

    @property
    def by_loss(self) -> bool:
        """Whether it is the loss."""
        return self.select == "val_loss"

    @property
    def larger(self) -> bool:
        """Whether a larger value is better."""
        return not self.by_loss and self.metric.larger

    @property
    def worst(self) -> float:
        """The worst value; a share is never below 0."""
        if not self.larger:
            return math.inf
        return 0.0 if self.metric.percent else -math.inf

    @property
    def title(self) -> str:
        """The criterion in words."""
        return f"validation {'loss' if self.by_loss else self.metric.title}"

    @property
    def heading(self) -> str:
        """The criterion with its unit."""
        return self.title if self.by_loss else f"validation {self.metric.heading}"

    def scaled(self, value: float) -> float:
        """A value in the unit in which it is shown."""
        return value if self.by_loss else self.metric.scaled(value)

    def show(self, value: float) -> str:
        """A value with its unit."""
        percent = self.metric.percent and not self.by_loss
        return f"{100 * value:.2f} %" if percent else f"{value:.4f}"

    def rank(self, val_score: float, val_loss: float) -> tuple[float, float]:
        """A key to sort by, the best first: the criterion, then the other measure."""
        key = (-val_score if self.metric.larger else val_score, val_loss)
        return key[::-1] if self.by_loss else key


class Selection:
    """Early stopping, elementwise: all tensors are of shape ``()`` for one run, ``(k,)`` for k.

    By ``val_loss`` an epoch is better if its validation loss is smaller, or the same with a better
    score. By ``val_score`` it is better if its score is better, or the same with a smaller loss.
    Among epochs that are equal in both, the first is selected. A run stops when the best epoch by
    either criterion and the last of the ``least`` first epochs are all ``patience`` epochs ago.

    Args:
        select: ``val_loss`` or ``val_score``, one for all runs or one for each
        patience: number of epochs
        least: number of first epochs in which patience does not count yet
        shape: ``()`` for one run, ``(k,)`` for k runs
        larger: whether larger scores are better

    Example:
        >>> selection = Selection("val_score", patience=2)
        >>> for loss, accuracy in [(0.9, 0.5), (0.8, 0.5), (0.7, 0.4), (0.8, 0.5)]:
        ...     better = selection.update(torch.tensor(loss), torch.tensor(accuracy))
        >>> int(selection.best_epoch), bool(selection.stopped)
        (2, True)
    """

    def __init__(
        self,
        select: str | Sequence[str],
        patience: int,
        shape: tuple[int, ...] = (),
        *,
        least: int = 0,
        larger: bool = True,
    ) -> None:
        rules = [select] if isinstance(select, str) else select
        self.by_loss = torch.tensor([rule == "val_loss" for rule in rules]).expand(shape or 1)
        self.by_loss = self.by_loss.view(shape)
        self.patience, self.least = patience, least
        self.larger = larger
        self.epoch = 0
        self.best_epoch = torch.zeros(shape, dtype=torch.long)
        self.val_loss = torch.full(shape, math.inf, dtype=torch.float64)
        worst = -math.inf if larger else math.inf
        self.val_score = torch.full(shape, worst, dtype=torch.float64)

    def update(self, val_loss: Tensor, val_score: Tensor) -> Tensor:
        """Add the next epoch's validation, and mark the runs whose best epoch it is so far."""
        self.epoch += 1
        less = val_loss < self.val_loss
        more = val_score > self.val_score if self.larger else val_score < self.val_score
        better = torch.where(
            self.by_loss,
            less | ((val_loss == self.val_loss) & more),
            more | ((val_score == self.val_score) & less),
        )
        self.val_loss = torch.where(better, val_loss.double(), self.val_loss)
        self.val_score = torch.where(better, val_score.double(), self.val_score)
        self.best_epoch = torch.where(better, self.epoch, self.best_epoch)
        return better

    @property
    def stopped(self) -> Tensor:
        """Marks the runs whose patience is over."""
        return self.epoch - self.best_epoch.clamp_min(self.least) >= self.patience

    def keep(self, runs: Tensor) -> None:
        """Continue with these of the k runs only; shape: ``(k,)`` of bool, or their numbers."""
        self.by_loss = self.by_loss[runs]
        self.best_epoch = self.best_epoch[runs]
        self.val_loss = self.val_loss[runs]
        self.val_score = self.val_score[runs]

    def state(self) -> dict[str, Tensor]:
        """The state for a checkpoint."""
        return {
            "epoch": torch.tensor(self.epoch),
            "best_epoch": self.best_epoch,
            "val_loss": self.val_loss,
            "val_score": self.val_score,
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from :meth:`state`."""
        self.epoch = int(state["epoch"])
        self.best_epoch = state["best_epoch"]
        self.val_loss = state["val_loss"]
        self.val_score = state["val_score"]
