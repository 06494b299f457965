"""The search itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphsct.extras import require
from graphsct.files import write_json, write_jsonl
from graphsct.search.blind import BlindData
from graphsct.search.evaluate import Candidate, Score, evaluate
from graphsct.search.space import configs, first_choices, space
from graphsct.search.task import Found, Task
from graphsct.training.checkpoint import saving
from graphsct.training.interrupt import interruptible
from graphsct.training.many import room
from graphsct.training.run import versions

if TYPE_CHECKING:
    from graphsct.search.study import Study, Taken

__all__ = ["search"]

# More trials at once would be chosen without knowing what the others gave.
_MOST = 4


def search(
    task: Task,
    *,
    trials: int,
    seed: int = 0,
    runs: int | None = None,
    data: Any = None,
    storage: str | os.PathLike[str] | None = None,
    root: str | os.PathLike[str] | None = None,
    progress: bool = True,
    epochs: int = 1500,
    patience: int = 100,
    seconds: float | None = None,
) -> Found:
    """Search for the best settings of a model by validation alone; test nodes are never seen.

    Args:
        task: what to search
        trials: how many there shall be in all, with those that are in the folder already
        seed: of what is tried, and of the first run of each trial; run i has this seed plus i
        runs: of each trial, whose mean is its score; if left out, 2 on a fixed split, else one for
            each split
        data: loaded by the name in the task if left out
        storage: folder of the study, for as many processes as there are; a study that is there
            goes on, whatever became of those who had it. In memory if left out
        root: folder with the raw files of data sets
        progress: show it, if standard error is a terminal
        epochs: of each run, at most
        patience: of each run, in epochs
        seconds: begin no further trial after this time

    Example:
        >>> task = Task("demo", "gcn", None, depth=2, max_hidden=16)
        >>> found = search(task, trials=3, epochs=20)
        >>> found.trials, found.model.depth
        (3, 2)
    """
    require("optuna", "search")
    from graphsct.search.journal import Journal
    from graphsct.search.study import Study

    started = time.perf_counter()
    blind = BlindData.of(_load(task, root) if data is None else data)
    runs = runs or (len(blind.views) if len(blind.views) > 1 else 2)
    settings = {"epochs": epochs, "patience": patience, "seed": seed}
    identity = {
        "task": task.to_dict(),
        "runs": runs,
        **settings,
        "space": {name: list(values) for name, values in space(task).items()},
        "data": blind.identity(),
    }
    with ExitStack() as stack:
        journal = None
        if storage is not None:
            journal = stack.enter_context(Journal(Path(storage)))
        study = Study(
            identity,
            space(task),
            first_choices(task),
            select=task.select,
            seed=seed,
            journal=journal,
        )
        stop = stack.enter_context(interruptible())

        def candidate(chosen: Mapping[str, Any]) -> Candidate:
            return Candidate(*configs(task, chosen, **settings), runs=runs)

        def size(chosen: Mapping[str, Any]) -> int:
            at_once = room(candidate(chosen).model.build(blind), blind.views[0])
            return min(_MOST, max(1, at_once // runs))

        while not stop() and (seconds is None or time.perf_counter() - started < seconds):
            group = study.take(trials, size)
            if not group:
                break
            _train(study, group, blind, candidate, stop)
        found = _found(study, task, settings, runs, interrupted=stop())
        if storage is not None:
            _write(study, found, Path(storage), settings)
    return found


def _load(task: Task, root: Any) -> Any:
    from graphsct import datasets

    return datasets.load(task.data, root, normalize=task.normalize)


class _Told:
    """Tells a study what comes of a group of its trials."""

    def __init__(self, study: Study, group: Sequence[Taken]) -> None:
        self.study, self.group = study, group
        self.open = set(range(len(group)))

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        given_up = self.study.hopeless(self.group[candidate], epoch, score)
        if given_up:
            self.open.discard(candidate)
        return given_up

    def done(self, candidate: int, score: Score) -> None:
        self.study.done(self.group[candidate], score)
        self.open.discard(candidate)

    def diverged(self, candidate: int, seconds: float) -> None:
        self.study.diverged(self.group[candidate], seconds)
        self.open.discard(candidate)


def _train(
    study: Study,
    group: Sequence[Taken],
    blind: BlindData,
    candidate: Callable[[Mapping[str, Any]], Candidate],
    stop: Callable[[], bool],
) -> None:
    judge = _Told(study, group)
    evaluate([candidate(taken.chosen) for taken in group], blind, judge, stop)
    for number in judge.open:
        study.give_back(group[number])


def _found(
    study: Study, task: Task, settings: dict[str, int], runs: int, *, interrupted: bool
) -> Found:
    best, counts = study.best(), study.counts()
    model, train = configs(task, study.chosen(best.params), **settings)
    return Found(
        task=task,
        model=model,
        train=train,
        score=best.user_attrs[task.select],
        **counts,
        seed=settings["seed"],
        seeds_per_trial=runs,
        interrupted=interrupted,
    )


def _write(study: Study, found: Found, folder: Path, settings: dict[str, int]) -> None:
    with saving(folder):
        write_jsonl(folder / "trials.jsonl", study.rows())
        write_json(folder / "best.json", {**found.to_dict(), "versions": versions()})
