"""The record of a run."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from graphsct import __version__
from graphsct.records import Record
from graphsct.training.config import TrainConfig

__all__ = ["Epoch", "Run", "versions"]


class Epoch(NamedTuple):
    """One epoch: the loss of its training step, and the scores of the weights after it.

    Args:
        epoch: number of the epoch, from 1
        train_loss: the loss that the step minimised, with dropout and penalty
        val_loss: loss of the validation nodes
        train_score: the metric of the training nodes, without dropout
        val_score: the metric of the validation nodes
    """

    epoch: int
    train_loss: float
    val_loss: float
    train_score: float
    val_score: float


@dataclass(frozen=True)
class Run(Record, strict=True, leave_out=("history",)):
    """A finished or interrupted run. Only ``test_score`` depends on the test nodes.

    Its plain values leave out the history, which is large. Pass the history to :meth:`from_dict`
    along with them to get it back.

    Args:
        test_score: the metric of the test nodes at the best epoch
        val_score: the metric of the validation nodes at the best epoch
        val_loss: validation loss at the best epoch
        best_epoch: the selected epoch, whose weights the model has now
        epochs: number of epochs trained
        seconds: duration of training
        interrupted: whether the run was stopped from outside
        versions: versions of the software, the number of threads, and the device
        config: settings of training, with the selection and the seed
        history: one entry per epoch
        backend: the backend that computed the epochs: ``engine``, ``autograd`` or ``distributed``;
            ``None`` in runs of earlier versions
        metric: name of the metric, in :data:`graphsct.training.METRICS`
    """

    test_score: float
    val_score: float
    val_loss: float
    best_epoch: int
    epochs: int
    seconds: float
    interrupted: bool
    versions: dict[str, Any]
    config: TrainConfig
    history: tuple[Epoch, ...] = ()
    backend: str | None = None
    metric: str = "accuracy"


def versions(device: str | None = None) -> dict[str, Any]:
    """The versions of the software that a result depends on, and the number of threads.

    Args:
        device: name of the device of a run, added to them
    """
    return {
        "graphsct": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
        **({} if device is None else {"device": device}),
    }
