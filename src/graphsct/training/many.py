"""Many runs at once."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from graphsct.datasets.splits import Split
from graphsct.errors import TrainingError
from graphsct.nn import Model
from graphsct.training.batch import Batch, shape_of, tracks
from graphsct.training.checkpoint import Checkpoint, SingleRunFolder
from graphsct.training.config import TrainConfig
from graphsct.training.data import Blind, Problem
from graphsct.training.fingerprint import identify
from graphsct.training.fit import check_finite, fit
from graphsct.training.interrupt import interruptible
from graphsct.training.progress import Progress
from graphsct.training.run import Run, versions
from graphsct.training.trial import fits_engine, test

__all__ = ["fit_many", "room"]

#: Hidden features of all runs in a batch, in numbers: as many as stay near the processor.
_NEAR = 1 << 18

#: Hidden features of a run from which all threads work on one run, and no two are in memory.
_LARGE = 1 << 22

Place = str | os.PathLike[str] | None


def fit_many(
    models: Sequence[torch.nn.Module],
    data: Any,
    configs: TrainConfig | Sequence[TrainConfig] | None = None,
    *,
    splits: Sequence[int | Split | None] | None = None,
    folders: Sequence[Place] | None = None,
    at_once: int | None = None,
    progress: Progress | None = None,
) -> list[Run]:
    """Train many models as :func:`~graphsct.fit` would one by one, in a fraction of the time.

    Models of the same shape are trained together: their weights are stacked, one sparse product
    serves all, and a run that is over leaves the others. Each has its own seed, split, learning
    rate, weight decay, dropout and ``select``; runs that differ in ``select`` alone are trained
    once. Of larger graphs, runs go side by side, as many as PyTorch has threads, each with one. The
    results are those of :func:`~graphsct.fit` with the same config, up to rounding. Models that
    cannot be trained so are trained one by one.

    Args:
        models: each is left with the weights of its best epoch
        data: as for :func:`~graphsct.fit`
        configs: one for each model, or one for all
        splits: one for each model, as for :func:`~graphsct.fit`; the data's masks if left out
        folders: one for each model, as for :func:`~graphsct.fit`; a run that is already there
            goes on, or is only read if it is over
        at_once: most runs in a batch; as many as stay near the processor if left out
        progress: shows the first run that is still going

    Returns:
        One run for each model. After Ctrl-C, those that were begun: runs that were interrupted
        say so, and keep their best so far.

    Example:
        >>> from graphsct import datasets, nn
        >>> data = datasets.demo()
        >>> models = [nn.GCN(16, 8, 3, num_layers=2) for _ in range(4)]
        >>> configs = [TrainConfig(epochs=20, seed=seed) for seed in range(4)]
        >>> [run.epochs for run in fit_many(models, data, configs)]
        [20, 20, 20, 20]
    """
    k = len(models)
    if configs is None or isinstance(configs, TrainConfig):
        configs = [configs or TrainConfig()] * k
    splits = [None] * k if splits is None else splits
    places: Sequence[Place] = [None] * k if folders is None else folders
    for name, given in (("configs", configs), ("splits", splits), ("folders", places)):
        if len(given) != k:
            raise TrainingError(f"there are {k} models and {len(given)} {name}; give one for each")
    plain = [not isinstance(model, Model) for model in models]
    problems = [Problem.of(data, split, plain=p) for split, p in zip(splits, plain, strict=True)]
    alone: list[int] = []
    shapes: dict[Any, list[int]] = {}
    for i, model in enumerate(models):
        if fits_engine(model, problems[i]) and not _begun(places[i]):
            shapes.setdefault(shape_of(model, configs[i]), []).append(i)
        else:
            alone.append(i)
    runs: dict[int, Run] = {}
    with interruptible() as asked:
        for i in alone:
            if asked():
                break
            callbacks: list[Any] = [] if progress is None else [progress]
            settings: Any = dict(split=splits[i], folder=places[i], callbacks=callbacks)
            runs[i] = fit(models[i], data, configs[i], **settings, progress=False)
            if progress is not None:
                progress.next_run()
        parts = [
            _Together(
                part,
                [models[i] for i in part],
                [problems[i] for i in part],
                [configs[i] for i in part],
                [places[i] for i in part],
                progress,
            )
            for alike in shapes.values()
            for part in _parts(
                _twins(alike, models, problems, configs),
                at_once or room(models[alike[0]], problems[alike[0]]),
            )
        ]
        for made in _side_by_side(parts):
            runs |= made
    return [runs[i] for i in sorted(runs)]


def _twins(
    runs: list[int],
    models: Sequence[Any],
    problems: Sequence[Problem],
    configs: Sequence[TrainConfig],
) -> list[list[int]]:
    """Runs of one shape, those together that need be trained only once."""
    firsts = tracks(
        [models[run] for run in runs],
        [problems[run] for run in runs],
        [configs[run] for run in runs],
    )
    groups: dict[int, list[int]] = {}
    for run, first in zip(runs, firsts, strict=True):
        groups.setdefault(first, []).append(run)
    return list(groups.values())


def _parts(groups: list[list[int]], most: int) -> list[list[int]]:
    """Parts with nearly equal numbers of groups, none with more than ``most``."""
    count = -(-len(groups) // most)
    return [[run for group in groups[part::count] for run in group] for part in range(count)]


def _side_by_side(parts: list[_Together]) -> Iterator[dict[int, Run]]:
    """Train parts, as many at once as PyTorch has threads, each with one thread.

    Threads that share the work of one small product wait for each other more than they work, all
    the more where other processes are busy. Large graphs have the processor to themselves.
    """
    threads = torch.get_num_threads()
    if min(threads, len(parts)) < 2 or any(part.large for part in parts):
        yield from (part.train() for part in parts)
        return
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        for future in as_completed([pool.submit(part.train) for part in parts]):
            yield future.result()
    finally:  # after an error the others end with their epoch
        for part in parts:
            part.stopped = True
        pool.shutdown()
        torch.set_num_threads(threads)


def _begun(place: Place) -> bool:
    folder = None if place is None else Path(place)
    return folder is not None and folder.is_dir() and any(folder.glob("*.safetensors"))


def room(model: Any, problem: Blind) -> int:
    """How many runs of a shape stay near the processor, at least one."""
    return max(1, _NEAR // _size(model, problem))


def _size(model: Any, problem: Blind) -> int:
    return len(problem.y) * int(model.hidden_channels)


class _Together:
    """A batch with its folders, and the look at the test nodes when a run is over.

    Args:
        numbers: of the runs, for the caller
        models: as for :func:`fit_many`, and so are the others
        problems: what each is trained on
        configs: one for each
        places: one for each
        progress: shows the first run that is still going
    """

    #: Whether to end with the epoch that is under way, as after Ctrl-C.
    stopped = False

    def __init__(
        self,
        numbers: list[int],
        models: list[Any],
        problems: list[Problem],
        configs: list[TrainConfig],
        places: list[Place],
        progress: Progress | None,
    ) -> None:
        self.models, self.problems, self.configs = models, problems, configs
        self.numbers, self.places, self.progress = numbers, places, progress
        self.large = _size(models[0], problems[0]) > _LARGE
        self.runs: dict[int, Run] = {}

    def train(self) -> dict[int, Run]:
        """Train to the end, or to where it is stopped; if that is at once, there is no run."""
        with ExitStack() as stack:
            asked = stack.enter_context(interruptible())
            if self.stopped or asked():
                return {}
            self.stores = [
                None
                if place is None
                else stack.enter_context(
                    SingleRunFolder(Path(place), identify(model, problem, config))
                )
                for place, model, problem, config in zip(
                    self.places, self.models, self.problems, self.configs, strict=True
                )
            ]
            self.started = time.perf_counter()
            batch = self.batch = Batch(self.models, self.problems, self.configs)
            while batch.going:
                self._step()
                stopped = self.stopped or asked()
                if stopped or batch.epoch % batch.config.checkpoint_every == 0:
                    self._save()
                over = batch.over
                if stopped:
                    self._finish(batch.going, interrupted=set(batch.going) - set(over))
                else:
                    self._finish(over)
        del self.batch  # what it computes in is many times as large as what it leaves
        return {self.numbers[run]: made for run, made in self.runs.items()}

    def _step(self) -> None:
        for run in self.batch.step():
            check_finite(self.batch.histories[run][-1], self.configs[run], self.stores[run])
        if self.progress is not None:
            self.progress(self.batch.histories[self.batch.going[0]][-1])

    def _save(self) -> None:
        seconds = (time.perf_counter() - self.started) / len(self.models)
        for run in self.batch.going:
            store = self.stores[run]
            if store is not None:
                checkpoint = Checkpoint(self.batch.state(run), seconds)
                store.save(checkpoint, self.batch.histories[run])

    def _finish(self, over: Sequence[int], interrupted: Collection[int] = ()) -> None:
        """Let runs leave the batch."""
        seconds = (time.perf_counter() - self.started) / len(self.models)
        for run in over:
            weights = self.batch.weights(run)
            self.runs[run] = Run(
                test_accuracy=test(self.models[run], weights, self.problems[run]),
                **self.batch.best(run)._asdict(),
                seconds=seconds,
                interrupted=run in interrupted,
                config=self.configs[run],
                versions=versions(),
                history=tuple(self.batch.histories[run]),
            )
            store = self.stores[run]
            if store is not None and run not in interrupted:
                store.finish(self.runs[run], weights)
            if self.progress is not None:
                self.progress.next_run()
        self.batch.leave(over)
