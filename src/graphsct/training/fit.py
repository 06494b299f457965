"""Training of one model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch

from graphsct.datasets.splits import Split
from graphsct.training.config import TrainConfig
from graphsct.training.device import Device
from graphsct.training.interrupt import interruptible
from graphsct.training.many import check_callbacks, keep_in, make_jobs
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.runner import Callback, train

__all__ = ["fit"]


def fit(
    model: torch.nn.Module,
    data: Any,
    config: TrainConfig | None = None,
    *,
    split: int | Split | None = None,
    folder: str | os.PathLike[str] | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool = True,
    device: Device | None = None,
) -> Run:
    """Train a model and leave it with the weights of its best epoch.

    On a CPU the same model, data, config and number of threads give the same result bit for bit,
    and a run that was killed and continued gives the result of one that was not. Ctrl-C ends a run
    after the current epoch and keeps the best weights so far. ``Run.backend`` names the backend:
    the engine where it can record the model, else autograd, with the same dropout masks and the
    same losses up to rounding. On a device other than a CPU it is autograd, with dropout masks of
    that device.

    Args:
        model: a model of :mod:`graphsct.nn`, or any other that takes dense features and
            ``edge_index`` (and ``edge_weight`` if it takes a third argument and the data have it),
            or the data as its only argument, and returns scores of shape ``(n, classes)``. For a
            list of graphs it also takes ``batch``, and returns a row of scores for each graph
        data: data of :func:`graphsct.datasets.load`, or any PyTorch Geometric ``Data`` with ``x``,
            ``y`` and masks; or graphs with a target each, which are trained in mini-batches: a
            :class:`~graphsct.datasets.GraphList`, or a list or dataset of ``Data``, which without
            a split gets the default one of :class:`~graphsct.datasets.Fractions`
        config: settings of training
        split: number of one of the data's splits, or three masks; defaults to the data's masks
        folder: folder of the checkpoints, the history and the result; an existing run is continued,
            or only read if it is finished
        callbacks: functions that get every :class:`~graphsct.training.Epoch`. The model may keep
            its first weights until the end of the run. It holds the weights of an epoch only for a
            callback with a method ``looks`` for which ``looks(epoch)`` returns true
        progress: show the progress, if standard error is a terminal
        device: ``cuda``, ``cuda:1``, ``mps``, ``cpu`` or a :class:`torch.device`; ``auto`` is CUDA,
            else MPS if PyTorch can multiply sparse matrices there, else the CPU. The model is moved
            there and stays, the data are copied there. By default both are used where they are

    Example:
        >>> from graphsct import datasets, nn
        >>> data = datasets.demo()
        >>> model = nn.GCN(16, 8, 3, num_layers=2)
        >>> run = fit(model, data, TrainConfig(epochs=20))
        >>> run.epochs, len(run.history)
        (20, 20)
    """
    config = config or TrainConfig()
    (job,) = make_jobs([model], data, [config], [split], device)
    job = keep_in(job, folder)._replace(callbacks=check_callbacks(callbacks))
    with ExitStack() as stack:
        bar = stack.enter_context(Progress(1, config.epochs)) if progress else None
        asked = stack.enter_context(interruptible())
        return train([job], progress=bar, stop=asked)[0]
