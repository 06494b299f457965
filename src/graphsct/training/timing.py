"""Median times of functions that take turns, and an epoch of any model as such a function."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from graphsct.training.backend import choose_backend
from graphsct.training.config import TrainConfig
from graphsct.training.many import make_jobs

__all__ = ["alternate", "epoch_of"]


def alternate(
    jobs: Sequence[Callable[[], Any]],
    seconds: float,
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Median seconds of each job, in turns after two warm-ups, until time or repeats run out."""
    times: list[list[float]] = [[] for _ in jobs]
    started = time.perf_counter()
    for turn in range(repeats + 2):
        for job, collected in zip(jobs, times, strict=True):
            start = clock()
            job()
            if turn > 1:
                collected.append(clock() - start)
        if turn > 3 and time.perf_counter() - started > seconds:
            break
    return [statistics.median(collected) for collected in times]


def epoch_of(
    model: Any, data: Any, config: TrainConfig, split: int | None = None
) -> Callable[[], Any]:
    """A function that trains a model for one epoch and evaluates, by the backend of a run.

    Args:
        model: any model
        data: as for :func:`~graphsct.fit`
        config: settings of training
        split: number of the split
    """
    (job,) = make_jobs([model], data, [config], [split])
    backend = choose_backend(job.model, job.data)([job.model], [job.data], [job.config])
    return lambda: (backend.descend(), backend.validate())
