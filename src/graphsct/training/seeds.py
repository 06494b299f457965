"""The same model with several seeds, and what they come to."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.data import count_splits
from graphsct.training.fit import fit
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.tensorboard import TensorBoard
from graphsct.training.trial import seeded

__all__ = ["Results", "percent", "run_seeds", "seed_folder", "split_of"]


@dataclass(frozen=True)
class Results:
    """Runs that differ in nothing but their seed, and their split if the data have several.

    Args:
        model: the model of all
        config: how they were trained; the seed is each run's own
        runs: in order of their seeds
        splits: the split that each used, ``None`` if there is one only
    """

    model: ModelConfig
    config: TrainConfig
    runs: tuple[Run, ...]
    splits: tuple[int | None, ...]

    @property
    def finished(self) -> tuple[Run, ...]:
        """The runs that were not interrupted."""
        return tuple(run for run in self.runs if not run.interrupted)

    @property
    def counted(self) -> tuple[Run, ...]:
        """The runs that make up the mean: those that are finished, all if none is."""
        return self.finished or self.runs

    @property
    def test_mean(self) -> float:
        """Mean test accuracy."""
        return statistics.fmean(run.test_accuracy for run in self.counted)

    @property
    def test_std(self) -> float:
        """Sample standard deviation of the test accuracy, 0 for a single run."""
        return deviation([run.test_accuracy for run in self.counted])

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped before its end."""
        return any(run.interrupted for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the histories."""
        train = self.config.to_dict()
        del train["seed"]
        seeds = []
        for run, split in zip(self.runs, self.splits, strict=True):
            values = run.to_dict()
            del values["config"], values["versions"]
            seeds.append({"seed": run.config.seed, "split": split, **values})
        return {
            "model": self.model.to_dict(),
            "train": train,
            "test_mean": self.test_mean,
            "test_std": self.test_std,
            "seeds": seeds,
        }


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation, 0 for a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def percent(shares: Sequence[float], sign: str = "") -> str:
    """Mean ± sample standard deviation of shares in percent; one alone has no deviation.

    Example:
        >>> percent([0.5, 0.6, 0.7]), percent([0.015], sign="+")
        ('60.0 ± 10.0', '+1.5')
    """
    mean = f"{100 * statistics.fmean(shares):{sign}.1f}"
    return f"{mean} ± {100 * deviation(shares):.1f}" if len(shares) > 1 else mean


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
) -> Results:
    """Train one model for each seed, the first weights, dropout and the split from the seed.

    Of data with several splits, seed ``i`` uses split ``i`` modulo their number. Ctrl-C interrupts
    the run that is under way, and no further seed is begun.

    Args:
        model: what to build
        data: as for :func:`~graphsct.fit`
        config: how to train; its own seed is not used
        seeds: one a run
        folder: each run gets a folder in it, and goes on or is read if it is there already
        tensorboard: also write event files into these folders; seeds are then trained one by one
        progress: show it, if standard error is a terminal
        title: what stands before the progress

    Example:
        >>> from graphsct.datasets import demo
        >>> model, config = ModelConfig(hidden=8), TrainConfig(epochs=5)
        >>> results = run_seeds(model, demo(), config, range(3))
        >>> [run.config.seed for run in results.runs]
        [0, 1, 2]
    """
    seeds = list(seeds)
    configs = [replace(config, seed=seed) for seed in seeds]
    splits = [split_of(data, seed) for seed in seeds]
    places = [None if folder is None else seed_folder(folder, seed) for seed in seeds]
    built = []
    for seed in seeds:
        with seeded(seed):
            built.append(model.build(data))
    runs: list[Run] = []
    with interruptible(), ExitStack() as stack:
        bar = stack.enter_context(Progress(len(seeds), config.epochs, title)) if progress else None
        if not tensorboard:
            runs = fit_many(built, data, configs, splits=splits, folders=places, progress=bar)
            return _results(model, data, config, runs)
        for made, own, split, place in zip(built, configs, splits, places, strict=True):
            with ExitStack() as inner:
                callbacks: list[Any] = [] if bar is None else [bar]
                if place is not None:
                    callbacks.append(inner.enter_context(TensorBoard(place)))
                run = fit(
                    made,
                    data,
                    own,
                    split=split,
                    folder=place,
                    callbacks=callbacks,
                    progress=False,
                )
            runs.append(run)
            if bar is not None:
                bar.next_run()
            if run.interrupted:
                break
    return _results(model, data, config, runs)


def _results(model: ModelConfig, data: Any, config: TrainConfig, runs: list[Run]) -> Results:
    splits = tuple(split_of(data, run.config.seed) for run in runs)
    return Results(model, config, tuple(runs), splits)


def split_of(data: Any, seed: int) -> int | None:
    """Which of the data's splits a seed uses, ``None`` if there is one only."""
    count = count_splits(data)
    return seed % count if count > 1 else None


def seed_folder(folder: Path, seed: int) -> Path:
    """Where the run of a seed is kept."""
    return folder / f"seed-{seed}"
