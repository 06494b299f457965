"""What comes out of a run."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch

from graphsct import __version__
from graphsct.training.config import TrainConfig

__all__ = ["Epoch", "Run", "versions"]


class Epoch(NamedTuple):
    """One epoch: the loss of its training step, and what the weights after it give.

    Args:
        epoch: its number, from 1
        train_loss: what the step made smaller, with dropout and penalty
        val_loss: negative log-likelihood
        train_accuracy: share of the training nodes that are right, without dropout
        val_accuracy: share of the validation nodes that are right
    """

    epoch: int
    train_loss: float
    val_loss: float
    train_accuracy: float
    val_accuracy: float


@dataclass(frozen=True)
class Run:
    """A finished or interrupted run. Nothing in it but ``test_accuracy`` has seen the test nodes.

    Args:
        test_accuracy: at the best epoch
        val_accuracy: at the best epoch
        val_loss: at the best epoch
        best_epoch: the one that the selection chose, whose weights the model has now
        epochs: how many there were
        seconds: of training
        interrupted: whether it was stopped from outside
        config: how it was trained, with the selection and the seed
        versions: of what it was trained by, and the number of threads
        history: one entry an epoch
        backend: what computed the epochs: ``engine``, ``autograd`` or ``distributed``; ``None`` in
            runs that were written before it was kept
    """

    test_accuracy: float
    val_accuracy: float
    val_loss: float
    best_epoch: int
    epochs: int
    seconds: float
    interrupted: bool
    config: TrainConfig
    versions: dict[str, Any]
    history: tuple[Epoch, ...]
    backend: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything but the history, as plain values."""
        names = [field.name for field in fields(self) if field.name not in ("config", "history")]
        return {name: getattr(self, name) for name in names} | {"config": asdict(self.config)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], history: Iterable[Mapping[str, Any]]) -> Run:
        """Take the values of :meth:`to_dict`, and those of each epoch."""
        config = TrainConfig.from_dict(values["config"])
        epochs = tuple(Epoch(**record) for record in history)
        return cls(**{**values, "config": config, "history": epochs})


def versions() -> dict[str, Any]:
    """What a result depends on besides its settings."""
    return {
        "graphsct": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
    }
