"""One run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from graphsct.datasets.splits import Split
from graphsct.training.config import MODELS, TrainConfig
from graphsct.training.problem import Problem
from graphsct.training.run import Epoch, Run, versions
from graphsct.training.trial import Trial, seeded

__all__ = ["fit"]


def fit(
    model: torch.nn.Module,
    data: Any,
    config: TrainConfig | None = None,
    *,
    split: int | Split | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
) -> Run:
    """Train a model and leave it with the weights of its best epoch.

    The same model, data, config and number of threads give the same result bit for bit.

    Args:
        model: of :mod:`graphsct.nn`, or any other that takes features and ``edge_index`` (and
            ``edge_weight`` if the data have it) and returns scores of shape ``(n, classes)``;
            one that is not of ours gets dense features
        data: of :func:`graphsct.datasets.load` or any PyTorch Geometric ``Data`` with ``x``, ``y``
            and masks
        config: how to train
        split: number of one of the data's splits, or three masks; if left out, the data's masks
        callbacks: called with every :class:`~graphsct.training.Epoch`

    Example:
        >>> from graphsct import datasets, nn
        >>> data = datasets.demo()
        >>> model = nn.GCN(16, 8, 3, num_layers=2)
        >>> run = fit(model, data, TrainConfig(epochs=20))
        >>> run.epochs, len(run.history)
        (20, 20)
    """
    config = config or TrainConfig()
    problem = Problem.of(data, split, plain=not isinstance(model, tuple(MODELS.values())))
    trial = Trial(model, problem, config)
    started = time.perf_counter()
    with seeded(config.seed, 1):
        while trial.selection.epoch < config.epochs and not trial.selection.stopped:
            record = trial.step()
            for callback in callbacks:
                callback(record)
    return Run(
        test_accuracy=trial.test(),
        val_accuracy=trial.selection.val_accuracy.item(),
        val_loss=trial.selection.val_loss.item(),
        best_epoch=int(trial.selection.best_epoch),
        epochs=trial.selection.epoch,
        seconds=time.perf_counter() - started,
        interrupted=False,
        config=config,
        versions=versions(),
        history=tuple(trial.history),
    )
