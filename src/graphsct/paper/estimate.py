"""Estimates of the time that cells take, from stored runs or from a few epochs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

from graphsct.paper.cell import Cell, Key
from graphsct.paper.reproduce import Budget, Loader
from graphsct.search.finals import TIMES
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.data import SplitData, count_splits
from graphsct.training.runner import Runner
from graphsct.training.seeding import seeded
from graphsct.training.seeds import split_of

__all__ = ["EPOCHS", "estimate"]

#: The number of epochs that is assumed for a run without a timed example.
EPOCHS = 300

_DEPTHS = 2, 8  # timed; other depths are interpolated linearly
_SEARCHED = 8  # the assumed depth where it is searched


def estimate(
    keys: Sequence[Key],
    budget: Budget,
    *,
    load: Loader,
    known: dict[Key, Cell],
) -> float:
    """Seconds that cells will take, one after another, give or take a factor of two.

    Args:
        keys: keys of the cells
        budget: budget of each cell
        load: function that loads data by name, with normalized rows or without
        known: cells with timed runs
    """
    timed: dict[tuple[Any, ...], tuple[float, float]] = {}
    total = 0.0
    for key in keys:
        cell = known.get(key)
        if cell is not None and cell.results:
            run = statistics.fmean(result.seconds for result in cell.results)
            rules = len(cell.settings.rules)
        else:
            kind = key.dataset, key.model, key.control
            if kind not in timed:
                timed[kind] = _line(key, load(key.dataset, False))
            first, more = timed[kind]
            depth = key.depth or _SEARCHED
            run = EPOCHS * (first + more * depth)
            rules = 1  # both rules share the same training
        total += budget.seeds * rules * run + _search(budget, run, load, key)
    return total


def _search(budget: Budget, run: float, load: Loader, key: Key) -> float:
    if budget.trials is None:
        return 0.0
    trial = run * max(2, count_splits(load(key.dataset, False)))
    seconds = budget.trials * trial / budget.workers
    if budget.seconds is not None:
        seconds = min(seconds, budget.seconds)
    return seconds + min(budget.finalists, budget.trials) * TIMES * trial


def _line(key: Key, data: Any) -> tuple[float, float]:
    """Seconds of an epoch, and the seconds that each layer adds."""
    small, large = (_epoch(key, depth, data) for depth in _DEPTHS)
    more = max(0.0, large - small) / (_DEPTHS[1] - _DEPTHS[0])
    return max(0.0, small - _DEPTHS[0] * more), more


def _epoch(key: Key, depth: int, data: Any) -> float:
    config = ModelConfig(key.model, key.control, depth)
    with seeded(0):
        model = config.build(data)
    runner = Runner([model], [SplitData.of(data, split_of(data, 0))], [TrainConfig()])
    times = []
    started = time.perf_counter()
    for _ in runner.epochs(until=4):  # the first epoch is a warm-up
        times.append(time.perf_counter() - started)
        started = time.perf_counter()
    return min(times[1:])
