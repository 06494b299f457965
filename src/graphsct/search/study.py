"""A study: which trials there are, who has them, and what they gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import FrozenTrial, Trial, TrialState

from graphsct.errors import TrainingError
from graphsct.search.evaluate import RUNGS, Score
from graphsct.search.space import Space, felt
from graphsct.training.fingerprint import check_same
from graphsct.training.trial import seed_of

if TYPE_CHECKING:
    from graphsct.search.database import Database
    from graphsct.search.journal import Journal

__all__ = ["Study", "Taken", "diverged"]

_WORST = {"val_accuracy": 0.0, "val_loss": math.inf}
# A trial that ended so many processes is not tried again.
_TRIES = 3
# The names of what the finals gave begin so.
_FINAL = "final "
# So often another trial is drawn instead of one that there has been.
_REPEATS = 20


class Taken(NamedTuple):
    """A trial that this process has, and what it has chosen."""

    trial: Trial
    chosen: dict[str, Any]


class Study:
    """Trials of one search, in a journal, a database or in memory.

    Args:
        identity: what decides the result; a journal of another study is refused
        choices: what a trial may choose
        first: what the first trials choose
        select: ``val_accuracy`` or ``val_loss``
        seed: of what is chosen at random
        journal: or a database, opened; in memory if left out
    """

    def __init__(
        self,
        identity: Mapping[str, Any],
        choices: Space,
        first: Sequence[Mapping[str, Any]],
        *,
        select: str,
        seed: int,
        journal: Journal | Database | None = None,
    ) -> None:
        self.choices, self.select, self.seed, self.journal = choices, select, seed, journal
        self._distributions = {name: _distribution(choices[name]) for name in choices}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with self._alone():
            self._study = self._open()
            there = self._study.user_attrs.get("identity")
            if there is None:
                for chosen in first:
                    self._study.enqueue_trial(dict(chosen), skip_if_exists=True)
                self._study.set_user_attr("identity", identity)
            elif journal is not None:
                way_out = "Resume with the same settings, or choose another folder: storage=..."
                check_same(there, identity, journal.place, way_out)

    def _open(self) -> optuna.Study:
        journal = self.journal
        name = "graphsct" if journal is None else journal.name
        storage: optuna.storages.BaseStorage = (
            optuna.storages.InMemoryStorage() if journal is None else journal.open()
        )
        # What is below a quarter of those that went on to the end; good trials differ by noise.
        pruner = optuna.pruners.PercentilePruner(75.0, n_startup_trials=8)
        if name in optuna.get_all_study_names(storage):
            return optuna.load_study(study_name=name, storage=storage, pruner=pruner)
        return optuna.create_study(
            study_name=name,
            storage=storage,
            pruner=pruner,
            direction="maximize" if self.select == "val_accuracy" else "minimize",
        )

    def _alone(self) -> AbstractContextManager[object]:
        return nullcontext() if self.journal is None else self.journal.lock

    def trials(self) -> list[FrozenTrial]:
        """All trials, in the order in which they were begun."""
        return self._study.get_trials(deepcopy=False)

    def begun(self) -> list[FrozenTrial]:
        """Trials under way or over, without those that were begun again or not at all."""
        trials = self.trials()
        gone = {trial.user_attrs.get("again") for trial in trials}
        gone |= {trial.number for trial in trials if trial.user_attrs.get("repeats")}
        return [t for t in trials if t.state != TrialState.WAITING and t.number not in gone]

    def take(self, limit: int, size: Callable[[Mapping[str, Any]], int]) -> list[Taken]:
        """Take a group of trials, none if there is nothing left.

        Args:
            limit: how many trials there shall be in all
            size: called with what the first has chosen; how many the group can have
        """
        with self._alone():
            self._take_over()
            left = limit - len(self.begun())
            if left <= 0:
                return []
            # From the state of the study, so that a study that goes on does not repeat itself.
            seed = seed_of(self.seed, len(self.trials())) % 2**31
            group = [self._ask_new(seed)]
            most = min(left, size(group[0].chosen))
            while len(group) < most:
                group.append(self._ask_new(seed + len(group)))
            return group

    def _ask_new(self, seed: int) -> Taken:
        """Ask for a trial that there has not been; in a grid the sampler likes to repeat itself."""
        self._study.sampler = optuna.samplers.TPESampler(seed=seed)
        taken = self._ask()
        self._study.sampler = optuna.samplers.RandomSampler(seed=seed)
        for _ in range(_REPEATS):
            if not self._repeats(taken):
                break
            taken.trial.set_user_attr("repeats", True)
            self._study.tell(taken.trial, state=TrialState.FAIL)
            taken = self._ask()
        return taken

    def _ask(self) -> Taken:
        trial = self._study.ask(self._distributions)
        if self.journal is not None:
            trial.set_user_attr("worker", self.journal.worker)
        return Taken(trial, self.chosen(trial.params))

    def _repeats(self, taken: Taken) -> bool:
        return any(
            felt(self.chosen(trial.params)) == felt(taken.chosen)
            for trial in self.begun()
            if trial.number != taken.trial.number
        )

    def chosen(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What a trial has chosen, without the rounding of steps."""
        return {
            name: min(these, key=lambda value: abs(value - params[name]))
            if isinstance(these[0], float)
            else params[name]
            for name, these in self.choices.items()
            if name in params  # a process may have been killed while it chose
        }

    def _take_over(self) -> None:
        """Begin again what processes that are gone have left; call it alone."""
        if self.journal is None:
            return
        for trial in self.trials():
            running, worker = trial.state == TrialState.RUNNING, trial.user_attrs.get("worker")
            if running and self.journal.is_gone(worker):
                self._begin_again(trial, tries=1)

    def _begin_again(self, trial: FrozenTrial, *, tries: int) -> None:
        tries += trial.user_attrs.get("tries", 0)
        known = any(other.user_attrs.get("again") == trial.number for other in self.trials())
        if tries < _TRIES and not known:
            # First the new one: a process that is killed in between loses nothing.
            marks = {"again": trial.number, "tries": tries}
            self._study.enqueue_trial(trial.params, user_attrs=marks)
        self._study.tell(trial.number, state=TrialState.FAIL)

    def give_back(self, taken: Taken) -> None:
        """Leave a trial that was interrupted to whoever goes on."""
        with self._alone():
            self._begin_again(self.trials()[taken.trial.number], tries=0)

    def _value(self, score: Score) -> float:
        return float(getattr(score, self.select))

    def hopeless(self, taken: Taken, epoch: int, score: Score) -> bool:
        """Report a score at a rung; whether the pruner gives the trial up."""
        taken.trial.report(self._value(score), epoch)
        if not taken.trial.should_prune():
            return False
        self._note(taken, score._asdict())
        self._study.tell(taken.trial, state=TrialState.PRUNED)
        return True

    def done(self, taken: Taken, score: Score) -> None:
        """Keep the score of a trial."""
        seen = self.trials()[taken.trial.number].intermediate_values
        for rung in RUNGS:
            if rung not in seen:  # it was over before: others are measured by its last score
                taken.trial.report(self._value(score), rung)
        self._note(taken, score._asdict())
        self._study.tell(taken.trial, self._value(score))

    def diverged(self, taken: Taken, seconds: float) -> None:
        """Give a trial the worst score."""
        self._note(taken, {"diverged": True, "seconds": seconds})
        self._study.tell(taken.trial, _WORST[self.select])

    def _note(self, taken: Taken, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            taken.trial.set_user_attr(name, value)

    def finalists(self, count: int) -> list[FrozenTrial]:
        """The best trials, without those that were in the finals; none while any is under way."""
        if any(trial.state == TrialState.RUNNING for trial in self.begun()):
            return []
        ranked = sorted(self._scored(), key=lambda trial: self._rank(trial.user_attrs))
        there = self.finals()
        return [trial for trial in ranked[:count] if trial.number not in there]

    def finals(self) -> dict[int, dict[str, Any]]:
        """What the finals gave, by the number of the trial."""
        there = self._study.user_attrs.items()
        return {int(k.removeprefix(_FINAL)): v for k, v in there if k.startswith(_FINAL)}

    def set_final(self, trial: FrozenTrial, result: Mapping[str, Any]) -> None:
        """Keep what the finals gave; in the study, for trials that are over take nothing more."""
        self._study.set_user_attr(f"{_FINAL}{trial.number}", dict(result))

    def score(self, trial: FrozenTrial) -> Mapping[str, Any]:
        """What is known of a trial: what the finals gave, else what its own runs gave."""
        finals: Mapping[int, Mapping[str, Any]] = self.finals()
        return finals.get(trial.number, trial.user_attrs)

    def best(self) -> FrozenTrial:
        """The trial with the best score, of those in the finals if there are any; of equal ones
        that with the better second measure.
        """
        done, finals = self._scored(), self.finals()
        done = [trial for trial in done if trial.number in finals] or done
        if not done:
            raise TrainingError("no trial has come to its end; allow more trials or more time")
        return min(done, key=lambda t: self._rank(finals.get(t.number, t.user_attrs)))

    def best_score(self) -> float | None:
        """That of the best trial, if there is one."""
        return self.score(self.best())[self.select] if self._scored() else None

    def _rank(self, score: Mapping[str, Any]) -> tuple[float, float]:
        accuracy, loss = score["val_accuracy"], score["val_loss"]
        return (-accuracy, loss) if self.select == "val_accuracy" else (loss, -accuracy)

    def _scored(self) -> list[FrozenTrial]:
        done = (trial for trial in self.begun() if trial.state == TrialState.COMPLETE)
        lost = {number for number, final in self.finals().items() if final.get("diverged")}
        return [trial for trial in done if not diverged(trial) and trial.number not in lost]

    def counts(self) -> dict[str, Any]:
        """How many trials are over and how, and how long they took."""
        over = [trial for trial in self.begun() if trial.state.is_finished()]
        finals = self.finals().values()
        return {
            "trials": len(over),
            "pruned": sum(trial.state == TrialState.PRUNED for trial in over),
            "failed": sum(trial.state == TrialState.FAIL or diverged(trial) for trial in over),
            "seconds": sum(trial.user_attrs.get("seconds", 0.0) for trial in over)
            + sum(final["seconds"] for final in finals),
            "finalists": len(finals),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One for each trial that is over, as plain values."""
        finals = self.finals()
        return [
            {
                "trial": trial.number,
                "state": "diverged" if diverged(trial) else trial.state.name.lower(),
                **{name: trial.user_attrs.get(name) for name in Score._fields},
                **{f"final_{name}": finals.get(trial.number, {}).get(name) for name in _WORST},
                **felt(self.chosen(trial.params)),
            }
            for trial in self.begun()
            if trial.state.is_finished()
        ]


def diverged(trial: FrozenTrial) -> bool:
    """Whether a run of a trial has left all bounds."""
    return bool(trial.user_attrs.get("diverged"))


def _distribution(choices: tuple[Any, ...]) -> BaseDistribution:
    """Evenly spaced numbers in their order, anything else as names."""
    if len(choices) > 2 and all(isinstance(choice, float) for choice in choices):
        steps = [b - a for a, b in pairwise(choices)]
        if all(math.isclose(step, steps[0]) for step in steps):
            return FloatDistribution(choices[0], choices[-1], step=round(steps[0], 10))
    return CategoricalDistribution(choices)
