"""The work of one process on a study."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphsct.errors import TrainingError
from graphsct.extras import require
from graphsct.nn.model_file import ModelSource
from graphsct.search.blind import BlindData
from graphsct.search.deadline import Deadline
from graphsct.search.evaluate import Candidate, Score, evaluate
from graphsct.search.space import configs, few_shapes, first_choices, space
from graphsct.search.task import Found, Task
from graphsct.training.config import TrainConfig, check
from graphsct.training.device import find_device
from graphsct.training.many import room

if TYPE_CHECKING:
    from graphsct.search.database import Database
    from graphsct.search.journal import Journal
    from graphsct.search.study import Study, Taken

__all__ = ["Plan", "work"]

# Runs of one shape at once: more gain little, and are chosen without the results of the others.
_TOGETHER = 8


@dataclass(frozen=True)
class Plan:
    """Everything that a worker needs besides the data.

    Args:
        task: the model, and the criterion
        trials: number of trials in all
        seed: seed of the search, and of the first run of each trial
        runs: number of runs of each trial
        epochs: maximum number of epochs of each run
        patience: a run stops this many epochs after its best one
        until: start no trial after this moment
        folder: folder of the study; in memory if none
        first: choices of the first trials, before those that are known to be good
        database: address of a database that keeps the study, under the name of the folder
        finalists: number of the best trials that get more runs before one of them is chosen
        source: where the model is defined, for other processes
        device: name of the device, which each process looks up; defaults to that of the data
    """

    task: Task
    trials: int
    seed: int
    runs: int
    epochs: int
    patience: int
    until: Deadline | None
    folder: Path | None
    first: tuple[Mapping[str, Any], ...] = ()
    database: str | None = None
    finalists: int = 0
    source: ModelSource | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        TrainConfig(epochs=self.epochs, patience=self.patience, seed=self.seed)
        for name in ("trials", "runs"):
            check(self, name, getattr(self, name) >= 1, "at least 1")
        check(self, "finalists", self.finalists >= 0, "at least 0")

    @contextmanager
    def open(self, data: BlindData) -> Iterator[Study]:
        """Open the study and mark the process as present; a study of another plan is an error."""
        require("optuna", "search")
        _check_time_zone()
        from graphsct.search.study import Study

        if self.source is not None:
            self.source.load()
        choices = space(self.task)
        identity = {
            "task": self.task.to_dict(),
            **{name: getattr(self, name) for name in ("seed", "runs", "epochs", "patience")},
            "space": {name: list(values) for name, values in choices.items()},
            "data": data.fingerprint(),
        }
        with self._journal() as journal:
            yield Study(
                identity,
                choices,
                [*self.first, *first_choices(self.task)],
                criterion=self.task.criterion,
                seed=self.seed,
                journal=journal,
            )

    def _journal(self) -> AbstractContextManager[Database | Journal | None]:
        if self.database is not None:
            from graphsct.search.database import Database

            name = "graphsct" if self.folder is None else self.folder.name
            return Database(self.database, name)
        if self.folder is not None:
            from graphsct.search.journal import Journal

            return Journal(self.folder)
        return nullcontext()

    def place(self, data: BlindData) -> BlindData:
        """The data on the device of this process."""
        return data if self.device is None else data.to(find_device(self.device))

    def candidate(self, chosen: Mapping[str, Any]) -> Candidate:
        """The candidate with the choices of a trial."""
        limits = {"epochs": self.epochs, "patience": self.patience, "seed": self.seed}
        model, train = configs(self.task, chosen, **limits)
        return Candidate(model, train, self.runs, normalize=chosen.get("normalize", False))

    def found(self, study: Study, *, interrupted: bool) -> Found:
        """The result of the study so far."""
        best = study.best()
        candidate = self.candidate(study.chosen(best.params))
        return Found(
            task=self.task,
            model=candidate.model,
            train=candidate.train,
            normalize=candidate.normalize or bool(self.task.normalize),
            score=study.score(best),
            **vars(study.counts()),
            seed=self.seed,
            seeds_per_trial=self.runs,
            interrupted=interrupted,
        )


def _check_time_zone() -> None:
    """Refuse a time zone in which Optuna cannot date its trials, before any is trained."""
    try:
        datetime.now().astimezone()
    except ValueError as error:
        raise TrainingError(
            f"Optuna cannot date trials in the time zone TZ={os.environ.get('TZ')!r}: {error} Set "
            "another time zone, such as UTC"
        ) from error


def work(
    plan: Plan,
    study: Study,
    data: BlindData,
    stop: Callable[[], bool],
    show: Callable[[Study], None] = lambda study: None,
) -> None:
    """Take trials and train them until there are none left.

    Args:
        plan: the plan of the search
        study: the study that the plan opened
        data: data without test nodes
        stop: called after every epoch; if true, unfinished trials are given back
        show: called after every change of the study
    """
    data = plan.place(data)

    def size(chosen: Mapping[str, Any]) -> int:
        if not few_shapes(study.choices):
            return 1
        model = plan.candidate(chosen).model.build(data)
        near = room(model, data.views_of(model, normalize=False)[0])
        return max(1, min(near, _TOGETHER) // plan.runs)

    while not stop() and (plan.until is None or not plan.until.passed):
        group = study.take(plan.trials, size)
        if not group:
            break
        show(study)
        judge = _Told(study, group, show)
        evaluate([plan.candidate(taken.chosen) for taken in group], data, judge, stop)
        for number in judge.open:
            study.give_back(group[number])


class _Told:
    """Passes the scores of a group of trials on to their study."""

    def __init__(self, study: Study, group: Sequence[Taken], show: Callable[[Study], None]) -> None:
        self.study, self.group, self.show = study, group, show
        self.open = set(range(len(group)))

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        given_up = self.study.hopeless(self.group[candidate], epoch, score)
        if given_up:
            self._close(candidate)
        return given_up

    def done(self, candidate: int, score: Score) -> None:
        self.study.done(self.group[candidate], score)
        self._close(candidate)

    def diverged(self, candidate: int, seconds: float) -> None:
        self.study.diverged(self.group[candidate], seconds)
        self._close(candidate)

    def _close(self, candidate: int) -> None:
        self.open.remove(candidate)
        self.show(self.study)
