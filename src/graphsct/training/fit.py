"""One run."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch.nn.parameter import UninitializedParameter

from graphsct.datasets.splits import Split
from graphsct.errors import ModelError, TrainingError
from graphsct.nn import Model
from graphsct.training.checkpoint import Checkpoint, SingleRunFolder
from graphsct.training.config import TrainConfig
from graphsct.training.data import Problem
from graphsct.training.fingerprint import identify
from graphsct.training.interrupt import interruptible
from graphsct.training.progress import Progress
from graphsct.training.run import Epoch, Run, versions
from graphsct.training.trial import Trial, seeded, test

__all__ = ["check_finite", "fit", "result"]


def fit(
    model: torch.nn.Module,
    data: Any,
    config: TrainConfig | None = None,
    *,
    split: int | Split | None = None,
    folder: str | os.PathLike[str] | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
    progress: bool = True,
) -> Run:
    """Train a model and leave it with the weights of its best epoch.

    On a CPU the same model, data, config and number of threads give the same result bit for bit,
    and so do a run that was killed and its continuation. Ctrl-C ends a run after the epoch it is
    in and keeps the best so far.

    Args:
        model: of :mod:`graphsct.nn`, or any other that takes features and ``edge_index`` (and
            ``edge_weight`` if the data have it) and returns scores of shape ``(n, classes)``;
            one that is not of ours gets dense features
        data: of :func:`graphsct.datasets.load` or any PyTorch Geometric ``Data`` with ``x``, ``y``
            and masks
        config: how to train
        split: number of one of the data's splits, or three masks; if left out, the data's masks
        folder: for checkpoints, the history and the result; a run that is already there goes on,
            or is only read if it is over
        callbacks: called with every :class:`~graphsct.training.Epoch`; one that has a method
            ``looks`` and answers ``looks(epoch)`` with true finds the weights of that epoch in the
            model, which may otherwise hold its first weights until the run is over
        progress: show it, if standard error is a terminal

    Example:
        >>> from graphsct import datasets, nn
        >>> data = datasets.demo()
        >>> model = nn.GCN(16, 8, 3, num_layers=2)
        >>> run = fit(model, data, TrainConfig(epochs=20))
        >>> run.epochs, len(run.history)
        (20, 20)
    """
    config = config or TrainConfig()
    problem = Problem.of(data, split, plain=not isinstance(model, Model))
    _materialize(model, problem, config)
    with ExitStack() as stack:
        store = None
        if folder is not None:
            identity = identify(model, problem, config)
            store = stack.enter_context(SingleRunFolder(Path(folder), identity))
            over = store.finished()
            if over is not None:
                run, weights = over
                model.load_state_dict(weights)
                model.eval()
                return run
        callbacks = list(callbacks)
        if progress:
            callbacks.append(stack.enter_context(Progress(1, config.epochs)))
        return _train(Trial(model, problem, config), problem, config, store, callbacks)


def _train(
    trial: Trial,
    problem: Problem,
    config: TrainConfig,
    store: SingleRunFolder | None,
    callbacks: list[Callable[[Epoch], object]],
) -> Run:
    started, interrupted = time.perf_counter(), False

    def save() -> None:
        if store is not None:
            store.save(Checkpoint(trial.state(), time.perf_counter() - started), trial.history)

    with seeded(config.seed, 1), interruptible() as asked:
        checkpoint = store.load() if store is not None else None
        if checkpoint is not None:
            trial.restore(checkpoint.tensors)
            started -= checkpoint.seconds
        while not trial.over and not interrupted:
            record = trial.step()
            check_finite(record, config, store)
            for callback in callbacks:
                if hasattr(callback, "looks") and callback.looks(record):
                    trial.show()
                callback(record)
            interrupted = asked() and not trial.over
            if interrupted or record.epoch % config.checkpoint_every == 0:
                save()
    seconds = time.perf_counter() - started
    run = result(trial, config, test(trial.model, trial.best, problem), seconds, interrupted)
    if store is not None and not interrupted:
        store.finish(run, trial.best)
    return run


def result(
    trial: Trial, config: TrainConfig, test_accuracy: float, seconds: float, interrupted: bool
) -> Run:
    """What has come out of a trial."""
    selection = trial.selection
    return Run(
        test_accuracy=test_accuracy,
        val_accuracy=selection.val_accuracy.item(),
        val_loss=selection.val_loss.item(),
        best_epoch=int(selection.best_epoch),
        epochs=selection.epoch,
        seconds=seconds,
        interrupted=interrupted,
        config=config,
        versions=versions(),
        history=tuple(trial.history),
    )


def _materialize(model: torch.nn.Module, problem: Problem, config: TrainConfig) -> None:
    """Give layers that wait for their first input, such as ``GCNConv(-1, 8)``, their weights."""
    if any(isinstance(weight, UninitializedParameter) for weight in model.parameters()):
        with seeded(config.seed), torch.no_grad():
            model.eval()(problem.x, *problem.edges)
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ModelError(f"{type(model).__name__} has no parameter to train")


def check_finite(record: Epoch, config: TrainConfig, store: SingleRunFolder | None) -> None:
    """Refuse an epoch whose losses are no numbers."""
    if math.isfinite(record.train_loss) and math.isfinite(record.val_loss):
        return
    last = store.kept if store is not None else 0
    kept = f"; the checkpoint of epoch {last} is kept in {store.folder}" if store and last else ""
    raise TrainingError(
        f"in epoch {record.epoch} the training loss is {record.train_loss} and the validation loss "
        f"{record.val_loss}: the weights have left all bounds. Lower learning_rate, which is "
        f"{config.learning_rate}{kept}"
    )
