"""Training of many models at once."""

from __future__ import annotations

import inspect
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import torch
from torch.nn.parameter import UninitializedParameter

from graphsct.datasets.splits import Split
from graphsct.errors import ModelError, TrainingError
from graphsct.nn.checks import check_module
from graphsct.nn.model import Model
from graphsct.training.backend import EngineBackend, choose_backend
from graphsct.training.checkpoint import SingleRunFolder
from graphsct.training.config import TrainConfig
from graphsct.training.data import SplitData, TrainingData
from graphsct.training.device import Device, Mover, find_device
from graphsct.training.fingerprint import fingerprint
from graphsct.training.graphs import TrainingGraphs, as_graphs, read_data
from graphsct.training.interrupt import interruptible
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.runner import Callback, Job, train
from graphsct.training.seeding import seeded
from graphsct.training.tracks import shape_of, tracks

__all__ = ["Place", "fit_many", "keep_in", "make_jobs", "materialize", "room", "train_many"]

#: Size of the hidden features of a batch, in numbers, that fits into the processor's caches.
_NEAR = 1 << 18

#: Size of the hidden features of a run from which all threads work on one run at a time.
_LARGE = 1 << 22

Place = str | os.PathLike[str] | None


def fit_many(
    models: Sequence[torch.nn.Module],
    data: Any,
    configs: TrainConfig | Sequence[TrainConfig] | None = None,
    *,
    splits: Sequence[int | Split | None] | None = None,
    folders: Sequence[Place] | None = None,
    callbacks: Sequence[Iterable[Callback]] | None = None,
    at_once: int | None = None,
    progress: Progress | None = None,
    device: Device | None = None,
) -> list[Run]:
    """Train many models as :func:`~graphsct.fit` would one by one, in a fraction of the time.

    Models of equal shape are trained together where the engine can record them: their weights are
    stacked, one sparse product serves all, and a finished run leaves the others. Each has its
    own seed, split, learning rate, weight decay, dropout and ``select``. On larger graphs, as many
    runs as PyTorch has threads are trained in parallel, one thread each. Models that the engine
    cannot record are trained one by one. Runs that differ only in ``select`` are trained once. The
    results are those of :func:`~graphsct.fit` with the same config, up to rounding.

    Args:
        models: the models; each is left with the weights of its best epoch
        data: as for :func:`~graphsct.fit`
        configs: one for each model, or one for all
        splits: one for each model, as for :func:`~graphsct.fit`; default to the data's masks
        folders: one for each model, as for :func:`~graphsct.fit`; an existing run is
            continued, or only read if it is finished
        callbacks: a sequence for each model, as for :func:`~graphsct.fit`
        at_once: maximum number of runs in a batch; by default as many as fit into the processor's
            caches
        progress: shows the first unfinished run
        device: as for :func:`~graphsct.fit`

    Returns:
        One run for each model. After Ctrl-C, one for each model whose training had begun;
        interrupted runs say so, and have the best weights so far.

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
    folders = [None] * k if folders is None else folders
    callbacks = [()] * k if callbacks is None else callbacks
    for name, given in (
        ("configs", configs),
        ("splits", splits),
        ("folders", folders),
        ("callbacks", callbacks),
    ):
        if len(given) != k:
            raise TrainingError(f"there are {k} models and {len(given)} {name}; give one for each")
    jobs = make_jobs(models, data, configs, splits, device)
    for i, (folder, own) in enumerate(zip(folders, callbacks, strict=True)):
        jobs[i] = keep_in(jobs[i], folder)._replace(callbacks=check_callbacks(own))
    return train_many(jobs, at_once=at_once, progress=progress)


def make_jobs(
    models: Sequence[torch.nn.Module],
    data: Any,
    configs: Sequence[TrainConfig],
    splits: Sequence[int | Split | None],
    device: Device | None = None,
) -> list[Job]:
    """Check data and models once, before anything is trained or written; one job per model.

    Layers that get their weights here get them before the move, the same for every device.
    """
    mover = None if device is None else Mover(find_device(device))
    _check_models(models)
    data = as_graphs(data)
    read: dict[Hashable, SplitData] = {}
    placed: dict[Hashable, SplitData] = {}
    jobs = []
    for model, config, split in zip(models, configs, splits, strict=True):
        if not isinstance(config, TrainConfig):
            raise TrainingError(f"config is {config!r}, expected a TrainConfig")
        own = id(split) if isinstance(split, tuple) else split
        key = own, _signature(model), config.metric
        if key not in read:
            read[key] = read_data(data, split, model=model, metric=config.metric)
        _check_batches(read[key], config)
        materialize(model, read[key], config)
        whole = *key, config.precision
        if whole not in placed:
            there = read[key] if mover is None else read[key].moved_by(mover)
            placed[whole] = there.in_precision(config.precision)
        if mover is not None:
            model.to(mover.device)
        jobs.append(Job(model, placed[whole], config))
    return jobs


def _check_models(models: Sequence[Any]) -> None:
    places: dict[int, int] = {}
    for place, model in enumerate(models):
        check_module(model)
        first = places.setdefault(id(model), place)
        if first != place:
            raise TrainingError(
                f"models[{place}] is the same object as models[{first}], so the weights of one run "
                "would replace those of the other; give each run its own, such as "
                "copy.deepcopy(model)"
            )


def _check_batches(data: TrainingData, config: TrainConfig) -> None:
    if config.batch_size is not None and not isinstance(data, TrainingGraphs):
        raise TrainingError(
            f"batch_size={config.batch_size} is for lists of graphs, but {data.name} is one graph, "
            "which is trained as a whole; leave batch_size out"
        )


def check_callbacks(callbacks: Any) -> list[Callback]:
    """The callbacks of a run as a list, if they are functions."""
    found = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    if not isinstance(callbacks, Iterable) or not all(map(callable, found)):
        raise TrainingError(f"callbacks is {callbacks!r}, expected a list of functions")
    return found


def _signature(model: torch.nn.Module) -> Hashable:
    """A key that is equal for models with the same arguments."""
    return isinstance(model, Model), str(inspect.signature(model.forward))


def materialize(model: torch.nn.Module, data: TrainingData, config: TrainConfig) -> None:
    """Give layers that wait for their first input, such as ``GCNConv(-1, 8)``, their weights.

    Args:
        model: a model, which is refused if it has nothing to train
        data: the first input
        config: the seed of the weights
    """
    if any(isinstance(weight, UninitializedParameter) for weight in model.parameters()):
        with seeded(config.seed):
            data.evaluate(model)
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ModelError(f"{type(model).__name__} has no parameter to train")


def keep_in(job: Job, folder: Place) -> Job:
    """The same job with a folder for its run."""
    if folder is None:
        return job
    own = fingerprint(job.model, job.data.fingerprint, job.config)
    return job._replace(store=SingleRunFolder(Path(folder), own))


def train_many(
    jobs: Sequence[Job], *, at_once: int | None = None, progress: Progress | None = None
) -> list[Run]:
    """Train jobs, those of one shape together; the arguments are those of :func:`fit_many`."""
    runs: dict[int, Run] = {}
    shapes = _stackable_shapes(jobs)
    batches = list(_batches(jobs, shapes, at_once))
    aside = [
        batch
        for batch in batches
        if all(shapes[i] is not None and _may_go_aside(jobs[i]) for i in batch)
    ]
    with interruptible() as asked:
        for numbers, made in _train_batches(jobs, batches, aside, progress, asked):
            if made:
                runs |= zip(numbers, made, strict=True)
    return [runs[i] for i in sorted(runs)]


def _stackable_shapes(jobs: Sequence[Job]) -> list[Hashable]:
    """The shape of each job that the engine can train, ``None`` for the others."""
    fits: dict[Hashable, bool] = {}
    shapes: list[Hashable] = []
    for job in jobs:
        shape = shape_of(job.model, job.config)
        key = shape, id(job.data)
        if key not in fits:
            fits[key] = choose_backend(job.model, job.data) is EngineBackend
        shapes.append(shape if fits[key] else None)
    return shapes


def _batches(
    jobs: Sequence[Job], shapes: Sequence[Hashable], at_once: int | None
) -> Iterator[list[int]]:
    """Numbers of jobs to train together: as many of a shape as there is room for."""
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for i, (job, shape) in enumerate(zip(jobs, shapes, strict=True)):
        if job.store is not None and job.store.begun:
            yield [i]
        else:
            alike[shape or repr(type(job.model))].append(i)
    for numbers in alike.values():
        first = jobs[numbers[0]]
        stacked = shapes[numbers[0]] is not None
        most = (at_once or _room(first.model, first.data)) if stacked else 1
        yield from _parts(_twins(numbers, jobs), most)


def _twins(runs: list[int], jobs: Sequence[Job]) -> list[list[int]]:
    """Groups of runs that need to be trained only once."""
    own = [jobs[run] for run in runs]
    firsts = tracks([j.model for j in own], [j.data for j in own], [j.config for j in own])
    groups: dict[int, list[int]] = defaultdict(list)
    for run, first in zip(runs, firsts, strict=True):
        groups[first].append(run)
    return list(groups.values())


def _parts(groups: list[list[int]], most: int) -> list[list[int]]:
    """Parts with nearly equal numbers of groups, none with more than ``most``."""
    count = -(-len(groups) // most)
    return [[run for group in groups[part::count] for run in group] for part in range(count)]


def _train_batches(
    jobs: Sequence[Job],
    batches: list[list[int]],
    aside: list[list[int]],
    progress: Progress | None,
    asked: Callable[[], bool],
) -> Iterator[tuple[list[int], list[Run]]]:
    """Train batches, as many at once as PyTorch has threads, each with one thread.

    Threads that share the work of one small product wait for each other more than they work, all
    the more where other processes are busy. Large graphs have the processor to themselves. Runs by
    autograd share PyTorch's global generator, and callbacks expect the main thread: these go one
    after another.
    """
    failed, threads = threading.Event(), torch.get_num_threads()

    def run(batch: list[int]) -> tuple[list[int], list[Run]]:
        def stop() -> bool:
            return failed.is_set() or asked()

        own = [jobs[i] for i in batch]
        return batch, [] if stop() else train(own, progress=progress, stop=stop)

    if min(threads, len(aside)) < 2:
        aside = []
    yield from (run(batch) for batch in batches if batch not in aside)
    if not aside:
        return
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        for future in as_completed([pool.submit(run, batch) for batch in aside]):
            yield future.result()
    finally:  # after an error, the others stop after their epoch
        failed.set()
        pool.shutdown()
        torch.set_num_threads(threads)


def _may_go_aside(job: Job) -> bool:
    return not job.callbacks and _size(job.model, job.data) <= _LARGE


def room(model: torch.nn.Module, data: TrainingData) -> int:
    """Number of runs of a shape that fit into the caches; one if they cannot be stacked."""
    if choose_backend(model, data) is not EngineBackend:
        return 1
    return _room(model, data)


def _room(model: torch.nn.Module, data: TrainingData) -> int:
    return max(1, _NEAR // _size(model, data))


def _size(model: torch.nn.Module, data: TrainingData) -> int:
    """How many numbers the hidden features of a run have."""
    widths = [min(weight.shape) for weight in model.parameters() if weight.dim() == 2]
    return len(data.y) * max(widths, default=1)
