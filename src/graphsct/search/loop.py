"""The search for the best settings of a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from graphsct.datasets.open_data import open_data, short_name
from graphsct.errors import TrainingError
from graphsct.files import write_json, write_jsonl
from graphsct.nn.model_file import ModelSource
from graphsct.search.blind import BlindData
from graphsct.search.deadline import Deadline
from graphsct.search.finals import hold_finals
from graphsct.search.progress import SearchProgress
from graphsct.search.space import chosen_in
from graphsct.search.task import Found, Task
from graphsct.search.worker import Plan, work
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.device import find_device
from graphsct.training.disk import saving
from graphsct.training.interrupt import interruptible
from graphsct.training.run import versions

if TYPE_CHECKING:
    from graphsct.search.study import Study

__all__ = ["search"]


def search(
    task: Task,
    *,
    trials: int,
    seed: int = 0,
    runs: int | None = None,
    data: Any = None,
    storage: str | os.PathLike[str] | None = None,
    database: str | None = None,
    root: str | os.PathLike[str] | None = None,
    progress: bool = True,
    epochs: int = 1500,
    patience: int = 100,
    seconds: float | None = None,
    workers: int = 1,
    ray: str | None = None,
    finalists: int = 0,
    device: str | None = None,
    first: Sequence[tuple[ModelConfig, TrainConfig, bool]] = (),
) -> Found:
    """Search for the best settings of a model by validation alone; test nodes are never seen.

    Args:
        task: the model, and the criterion
        trials: number of trials in all, with those that are already in the folder
        seed: seed of the search, and of the first run of each trial; run i has this seed plus i
        runs: number of runs of each trial, whose mean is its score; by default 2 on a fixed split,
            else one for each split
        data: your own data, with rows that already sum to one if the task says so; if left out,
            the data in the task are opened by :func:`~graphsct.datasets.open_data.open_data`
        storage: folder of the study, which several processes may share; an existing study is
            resumed. In memory if left out
        database: keep the study in a PostgreSQL database, ``postgresql://user@host/name``, under
            the name of the folder, which then gets only the result
        root: folder with the raw files of data sets
        progress: show it on standard error; if that is not a terminal, log a line per minute
        epochs: maximum number of epochs of each run
        patience: a run stops this many epochs after its best one
        seconds: start no further trial after this time
        workers: number of processes; they import or execute the file that defines the model
        ray: let a Ray cluster start the processes: its address, ``auto`` or ``local``; all its
            machines must share the folder, unless there is a database
        finalists: train this many of the best trials with five times as many runs, in this process,
            and take the best of these; the best of many trials with few runs is often a lucky one
        device: device of each process, as for :func:`~graphsct.fit`; several share one
        first: settings to try first in a new study, such as the best of a similar task: a model,
            its training, and whether rows sum to one; each becomes the nearest choice of the task

    Example:
        >>> task = Task("demo", "gcn", None, depth=2, max_hidden=16)
        >>> found = search(task, trials=3, epochs=20)
        >>> found.trials, found.model.depth
        (3, 2)
    """
    if seconds is not None and not seconds >= 0:
        raise TrainingError(f"seconds is {seconds}, expected a number of at least 0")
    if data is None:
        data = open_data(task.data, root, normalize=bool(task.normalize))
    blind = BlindData.of(data, task.metric)
    task = replace(task, metric=None if blind.metric == "accuracy" else blind.metric)
    if device is not None and ray is None:  # the machines of a cluster have devices of their own
        find_device(device)
    with ExitStack() as stack:
        alone = workers == 1 and ray is None
        if storage is None and database is None and not alone:
            storage = stack.enter_context(TemporaryDirectory())
        plan = Plan(
            task=task,
            trials=trials,
            seed=seed,
            database=database,
            runs=max(2, len(blind.views)) if runs is None else runs,
            epochs=epochs,
            patience=patience,
            until=None if seconds is None else Deadline(seconds),
            folder=None if storage is None else Path(storage).absolute(),
            first=tuple(chosen_in(task, *settings) for settings in first),
            finalists=finalists,
            source=None if alone else ModelSource.of(task.model),
            device=device,
        )
        study = stack.enter_context(plan.open(blind))
        bar = stack.enter_context(SearchProgress(trials, _title(task), shown=progress))
        stop = stack.enter_context(interruptible())
        bar(study)
        if alone:
            work(plan, study, blind, stop, bar)
        elif ray is None:
            from graphsct.search.pool import run_pool

            run_pool(plan, blind, workers, stop, lambda: bar(study))
        else:
            from graphsct.search.cluster import run_cluster

            run_cluster(plan, blind, workers, stop, lambda: bar(study), address=ray)
        hold_finals(plan, study, blind, stop, bar)
        interrupted = stop()
        if interrupted and study.best_score() is None:
            raise KeyboardInterrupt  # there is no result yet
        found = plan.found(study, interrupted=interrupted)
        if storage is not None:
            _write(study, found, Path(storage))
    return found


def _title(task: Task) -> str:
    depth = "" if task.depth is None else task.depth
    return f"{short_name(task.data)} {task.model}{depth} {task.control or 'plain'}"


def _write(study: Study, found: Found, folder: Path) -> None:
    with saving(folder):
        write_jsonl(folder / "trials.jsonl", (row.to_dict() for row in study.rows()))
        write_json(folder / "best.json", {**found.to_dict(), "versions": versions()})
