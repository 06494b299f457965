"""The selection of the best epoch, and early stopping, for one run or many at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Scores", "Selection"]


class Scores(NamedTuple):
    """The evaluation of k runs; shape of each: ``(k,)``.

    Args:
        val_loss: negative log-likelihood of the validation nodes
        train_score: share of the training nodes classified correctly
        val_score: share of the validation nodes classified correctly
    """

    val_loss: Tensor
    train_score: Tensor
    val_score: Tensor


class Selection:
    """Early stopping, elementwise: all tensors are of shape ``()`` for one run, ``(k,)`` for k.

    By ``val_loss`` an epoch is better if its validation loss is smaller, or the same with a larger
    validation accuracy. By ``val_score`` it is better if its accuracy is larger, or the same
    with a smaller loss. Among epochs that are equal in both, the first is selected. A run stops
    when its best epoch, by both criteria, is ``patience`` epochs ago.

    Args:
        select: ``val_loss`` or ``val_score``, one for all runs or one for each
        patience: number of epochs
        shape: ``()`` for one run, ``(k,)`` for k runs

    Example:
        >>> selection = Selection("val_score", patience=2)
        >>> for loss, accuracy in [(0.9, 0.5), (0.8, 0.5), (0.7, 0.4), (0.8, 0.5)]:
        ...     better = selection.update(torch.tensor(loss), torch.tensor(accuracy))
        >>> int(selection.best_epoch), bool(selection.stopped)
        (2, True)
    """

    def __init__(
        self, select: str | Sequence[str], patience: int, shape: tuple[int, ...] = ()
    ) -> None:
        rules = [select] if isinstance(select, str) else select
        self.by_loss = torch.tensor([rule == "val_loss" for rule in rules]).expand(shape or 1)
        self.by_loss = self.by_loss.view(shape)
        self.patience = patience
        self.epoch = 0
        self.best_epoch = torch.zeros(shape, dtype=torch.long)
        self.val_loss = torch.full(shape, math.inf, dtype=torch.float64)
        self.val_score = torch.full(shape, -math.inf, dtype=torch.float64)

    def update(self, val_loss: Tensor, val_score: Tensor) -> Tensor:
        """Add the next epoch's validation, and mark the runs whose best epoch it is so far."""
        self.epoch += 1
        less, more = val_loss < self.val_loss, val_score > self.val_score
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
        return self.epoch - self.best_epoch >= self.patience

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
