"""The same model with several seeds, and the statistics of its runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import torch

from graphsct.errors import TrainingError
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.data import count_splits
from graphsct.training.device import Device
from graphsct.training.folder import seed_folder
from graphsct.training.graphs import as_graphs
from graphsct.training.many import keep_in, make_jobs, room, train_many
from graphsct.training.metrics import METRICS, Metric, deviation
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.runner import Callback, Job
from graphsct.training.seeding import seeded
from graphsct.training.selection import Criterion
from graphsct.training.tensorboard import TensorBoard

__all__ = [
    "MakeCallback",
    "Results",
    "build_seeds",
    "run_seeds",
    "seed_jobs",
    "split_of",
    "train_seeds",
    "with_callbacks",
]

#: Makes the callback of a run from its model, its folder, its seed and the number of runs that are
#: trained together.
MakeCallback = Callable[[torch.nn.Module, Path, int, int], Callback]


@dataclass(frozen=True)
class Results:
    """Runs that differ only in their seed, and in their split if the data have several.

    Args:
        model: the settings of the model
        config: settings of training; each run has its own seed
        runs: one per seed
        splits: the split of each run, ``None`` if the data have only one
    """

    model: ModelConfig
    config: TrainConfig
    runs: tuple[Run, ...]
    splits: tuple[int | None, ...]

    @classmethod
    def of(cls, model: ModelConfig, data: Any, config: TrainConfig, runs: Sequence[Run]) -> Results:
        """The runs of a model on some data, each with the split of its seed."""
        splits = tuple(split_of(data, run.config.seed) for run in runs)
        return cls(model, config, tuple(runs), splits)

    @property
    def finished(self) -> tuple[Run, ...]:
        """The runs that were not interrupted."""
        return tuple(run for run in self.runs if not run.interrupted)

    @property
    def counted(self) -> tuple[Run, ...]:
        """The runs that count for the mean: the finished ones, or all if none is finished."""
        return self.finished or self.runs

    @property
    def metric(self) -> Metric:
        """The metric of all scores."""
        return METRICS[self.runs[0].metric]

    @property
    def criterion(self) -> Criterion:
        """The criterion that selected the epochs."""
        return Criterion(self.config.select, self.metric)

    @property
    def test_mean(self) -> float:
        """Mean score of the test nodes."""
        return statistics.fmean(run.test_score for run in self.counted)

    @property
    def test_std(self) -> float:
        """Sample standard deviation of the test score, 0 for a single run."""
        return deviation([run.test_score for run in self.counted])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the histories."""
        seeds = []
        for run, split in zip(self.runs, self.splits, strict=True):
            values = run.to_dict()
            del values["config"], values["versions"]
            seeds.append({"seed": run.config.seed, "split": split, **values})
        return {
            "model": self.model.to_dict(),
            "train": self.config.shared(),
            "test_mean": self.test_mean,
            "test_std": self.test_std,
            "seeds": seeds,
        }


def run_seeds(
    model: ModelConfig,
    data: Any,
    config: TrainConfig,
    seeds: Iterable[int],
    *,
    folder: Path | None = None,
    tensorboard: bool = False,
    progress: bool = True,
    title: str = "seed",
    device: Device | None = None,
) -> Results:
    """Train one model for each seed, which decides the first weights, dropout and the split.

    On data with several splits, seed ``i`` uses split ``i`` modulo their number. Ctrl-C interrupts
    the current runs, and no further seed is started; before the first epoch it raises
    :class:`KeyboardInterrupt`.

    Args:
        model: settings of the model
        data: as for :func:`~graphsct.fit`
        config: settings of training; their seed is not used
        seeds: one per run
        folder: each run gets a folder in it; an existing run is continued, or only read if it is
            finished
        tensorboard: also write event files into these folders
        progress: show the progress, if standard error is a terminal
        title: the text before the progress
        device: as for :func:`~graphsct.fit`

    Example:
        >>> from graphsct.datasets import demo
        >>> model, config = ModelConfig(hidden=8), TrainConfig(epochs=5)
        >>> results = run_seeds(model, demo(), config, range(3))
        >>> [run.config.seed for run in results.runs]
        [0, 1, 2]
    """
    jobs = seed_jobs(model, data, config, seeds, device)
    runs = train_seeds(
        jobs, folder=folder, tensorboard=tensorboard, title=title if progress else None
    )
    if not runs:
        raise KeyboardInterrupt
    return Results.of(model, data, config, runs)


def build_seeds(
    build: Callable[[], torch.nn.Module], seeds: Iterable[int]
) -> list[torch.nn.Module]:
    """One model for each seed, which decides its first weights.

    Args:
        build: makes a model, any ``torch.nn.Module``
        seeds: one per model

    Example:
        >>> from graphsct import datasets, fit_many
        >>> from torch_geometric.nn import GAT
        >>> models = build_seeds(lambda: GAT(16, 8, 2, 3), range(2))
        >>> configs = [TrainConfig(epochs=3, seed=seed) for seed in range(2)]
        >>> [run.backend for run in fit_many(models, datasets.demo(), configs)]
        ['autograd', 'autograd']
    """
    models = []
    for seed in _check_seeds(seeds):
        with seeded(seed):
            models.append(build())
    return models


def seed_jobs(
    model: ModelConfig,
    data: Any,
    config: TrainConfig,
    seeds: Iterable[int],
    device: Device | None = None,
) -> list[Job]:
    """One job for each seed; data and models are checked, and nothing is trained or written."""
    data, seeds = as_graphs(data), _check_seeds(seeds)
    if not seeds:
        raise TrainingError("there is no seed to train with; give at least one")
    twice = [seed for seed, number in Counter(seeds).items() if number > 1]
    if twice:
        raise TrainingError(
            f"seed {twice[0]} is given twice: its runs are equal and would count as two; give each "
            "seed once"
        )
    return make_jobs(
        build_seeds(partial(model.build, data), seeds),
        data,
        [replace(config, seed=seed) for seed in seeds],
        [split_of(data, seed) for seed in seeds],
        device,
    )


def _check_seeds(seeds: Any) -> list[int]:
    """The seeds as a list, if they are ones that PyTorch takes."""
    found = list(seeds) if isinstance(seeds, Iterable) else [seeds]
    if not isinstance(seeds, Iterable) or not all(isinstance(seed, Integral) for seed in found):
        raise TrainingError(f"seeds is {seeds!r}, expected whole numbers, such as range(10)")
    for seed in found:
        if not 0 <= seed < 2**63:
            raise TrainingError(f"a seed is {seed}, expected whole numbers in 0 .. 2^63 - 1")
    return [int(seed) for seed in found]


def with_callbacks(jobs: Sequence[Job], folder: Path, make: MakeCallback) -> list[Job]:
    """The jobs of :func:`seed_jobs` with a callback each; nothing is written.

    Args:
        jobs: one per seed
        folder: the folder of :func:`train_seeds`
        make: makes a callback
    """
    together = min(len(jobs), room(jobs[0].model, jobs[0].data))
    found = []
    for job in jobs:
        seed = job.config.seed
        own = make(job.model, seed_folder(folder, seed), seed, together)
        found.append(job._replace(callbacks=[own]))
    return found


def train_seeds(
    jobs: Sequence[Job],
    *,
    folder: Path | None = None,
    tensorboard: bool = False,
    title: str | None = None,
) -> list[Run]:
    """Train the jobs of :func:`seed_jobs`; the arguments are those of :func:`run_seeds`.

    Args:
        jobs: one per seed
        folder: each run gets a folder in it
        tensorboard: also write event files
        title: the text before the progress, which is not shown without one
    """
    with ExitStack() as stack:
        kept = list(jobs)
        for i, job in enumerate(jobs if folder is not None else ()):
            assert folder is not None
            place = seed_folder(folder, job.config.seed)
            kept[i] = keep_in(job, place)
            if tensorboard:
                board = stack.enter_context(TensorBoard(place))
                kept[i] = kept[i]._replace(callbacks=[*job.callbacks, board])
        bar = None
        if title is not None:
            bar = stack.enter_context(Progress(len(jobs), jobs[0].config.epochs, title))
        return train_many(kept, progress=bar)


def split_of(data: Any, seed: int) -> int | None:
    """Number of the split that a seed uses, ``None`` if the data have only one."""
    count = count_splits(data)
    return seed % count if count > 1 else None
