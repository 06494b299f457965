"""A study: its trials, the processes that train them, and their scores."""

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
from graphsct.nn.blueprint import Space
from graphsct.search.evaluate import RUNGS, Score
from graphsct.search.outcome import Counts, Outcome, TrialRow
from graphsct.search.space import in_effect
from graphsct.training.fingerprint import check_same
from graphsct.training.seeding import seed_of
from graphsct.training.selection import Criterion

if TYPE_CHECKING:
    from graphsct.search.database import Database
    from graphsct.search.journal import Journal

__all__ = ["Study", "Taken"]

# A trial that ended this many processes is not tried again.
_TRIES = 3
# The prefix of the outcomes of the finals, before the number of the trial.
_FINAL = "final "
# How often a trial is drawn again if its settings were tried before.
_REPEATS = 20


class Taken(NamedTuple):
    """A trial that this process has taken, and its settings."""

    trial: Trial
    chosen: dict[str, Any]


class Study:
    """The trials of one search, in a journal, a database or in memory.

    Args:
        identity: everything that decides the result; a journal of another study is refused
        choices: the search space
        first: settings of the first trials
        criterion: scores a trial
        seed: seed of the random choices
        journal: an open journal or database; in memory if left out
    """

    def __init__(
        self,
        identity: Mapping[str, Any],
        choices: Space,
        first: Sequence[Mapping[str, Any]],
        *,
        criterion: Criterion,
        seed: int,
        journal: Journal | Database | None = None,
    ) -> None:
        self.choices, self.criterion, self.seed, self.journal = choices, criterion, seed, journal
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
        # Gives up the worst quarter only: good trials differ by noise.
        pruner = optuna.pruners.PercentilePruner(75.0, n_startup_trials=8)
        if name in optuna.get_all_study_names(storage):
            return optuna.load_study(study_name=name, storage=storage, pruner=pruner)
        return optuna.create_study(
            study_name=name,
            storage=storage,
            pruner=pruner,
            direction="maximize" if self.criterion.larger else "minimize",
        )

    def _alone(self) -> AbstractContextManager[object]:
        return nullcontext() if self.journal is None else self.journal.lock

    def trials(self) -> list[FrozenTrial]:
        """All trials, in the order in which they were begun."""
        return self._study.get_trials(deepcopy=False)

    def begun(self) -> list[FrozenTrial]:
        """Running and finished trials, without those that were restarted or repeat another."""
        trials = self.trials()
        gone = {trial.user_attrs.get("again") for trial in trials}
        gone |= {trial.number for trial in trials if trial.user_attrs.get("repeats")}
        return [t for t in trials if t.state != TrialState.WAITING and t.number not in gone]

    def take(self, limit: int, size: Callable[[Mapping[str, Any]], int]) -> list[Taken]:
        """Take a group of trials; an empty one if nothing is left.

        Args:
            limit: total number of trials
            size: returns the largest size of the group, given the settings of its first trial
        """
        with self._alone():
            self._take_over()
            left = limit - len(self.begun())
            if left <= 0:
                return []
            # Depends on the state of the study, so that a resumed study does not repeat itself.
            seed = seed_of(self.seed, len(self.trials())) % 2**31
            group = [self._ask_new(seed)]
            most = min(left, size(group[0].chosen))
            while len(group) < most:
                group.append(self._ask_new(seed + len(group)))
            return group

    def _ask_new(self, seed: int) -> Taken:
        """Ask for a trial with new settings; in a grid the sampler often repeats itself."""
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
            in_effect(self.chosen(trial.params)) == in_effect(taken.chosen)
            for trial in self.begun()
            if trial.number != taken.trial.number
        )

    def chosen(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a trial, with exact choices instead of rounded steps."""
        return {
            name: min(these, key=lambda value: abs(value - params[name]))
            if isinstance(these[0], float)
            else params[name]
            for name, these in self.choices.items()
            if name in params  # a process may have been killed while it chose
        }

    def _take_over(self) -> None:
        """Restart the trials of dead processes. The caller must hold the lock."""
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
        """Leave an interrupted trial to the next process."""
        with self._alone():
            self._begin_again(self.trials()[taken.trial.number], tries=0)

    def _value(self, score: Score | Outcome) -> float:
        return float(getattr(score, self.criterion.select))

    def hopeless(self, taken: Taken, epoch: int, score: Score) -> bool:
        """Report a score at a rung; return whether to prune the trial."""
        taken.trial.report(self._value(score), epoch)
        if not taken.trial.should_prune():
            return False
        self._note(taken, Outcome.of(score))
        self._study.tell(taken.trial, state=TrialState.PRUNED)
        return True

    def done(self, taken: Taken, score: Score) -> None:
        """Keep the score of a trial."""
        seen = self.trials()[taken.trial.number].intermediate_values
        for rung in RUNGS:
            if rung not in seen:  # the trial ended before: its last score counts there
                taken.trial.report(self._value(score), rung)
        self._note(taken, Outcome.of(score))
        self._study.tell(taken.trial, self._value(score))

    def diverged(self, taken: Taken, seconds: float) -> None:
        """Give a trial the worst score."""
        self._note(taken, Outcome(diverged=True, seconds=seconds))
        self._study.tell(taken.trial, self.criterion.worst)

    def _note(self, taken: Taken, outcome: Outcome) -> None:
        for name, value in outcome.to_dict().items():
            taken.trial.set_user_attr(name, value)

    def finalists(self, count: int) -> list[FrozenTrial]:
        """The best trials that were not in the finals yet; none while a trial is running."""
        if any(trial.state == TrialState.RUNNING for trial in self.begun()):
            return []
        ranked = sorted(self._scored(), key=lambda trial: _outcome(trial).rank(self.criterion))
        there = self.finals()
        return [trial for trial in ranked[:count] if trial.number not in there]

    def finals(self) -> dict[int, Outcome]:
        """The outcomes of the finals by the number of the trial."""
        return {
            int(name.removeprefix(_FINAL)): Outcome.from_dict(values)
            for name, values in self._study.user_attrs.items()
            if name.startswith(_FINAL)
        }

    def set_final(self, trial: FrozenTrial, outcome: Outcome) -> None:
        """Keep the outcome of a finalist, in the study because a finished trial is immutable."""
        self._study.set_user_attr(f"{_FINAL}{trial.number}", outcome.to_dict())

    def best(self) -> FrozenTrial:
        """The trial with the best score, among the finalists if there are any."""
        done, finals = self._scored(), self.finals()
        done = [trial for trial in done if trial.number in finals] or done
        if not done:
            raise TrainingError("no trial has finished; allow more trials or more time")
        return min(done, key=lambda t: (finals.get(t.number) or _outcome(t)).rank(self.criterion))

    def score(self, trial: FrozenTrial) -> float:
        """The score of a trial: from the finals if it was a finalist, else from its own runs."""
        return self._value(self.finals().get(trial.number) or _outcome(trial))

    def best_score(self) -> float | None:
        """The score of the best trial, ``None`` if no trial has one."""
        return self.score(self.best()) if self._scored() else None

    def _scored(self) -> list[FrozenTrial]:
        done = (trial for trial in self.begun() if trial.state == TrialState.COMPLETE)
        lost = {number for number, final in self.finals().items() if final.diverged}
        return [t for t in done if not _outcome(t).diverged and t.number not in lost]

    def _over(self) -> list[tuple[FrozenTrial, Outcome]]:
        return [(t, _outcome(t)) for t in self.begun() if t.state.is_finished()]

    def counts(self) -> Counts:
        """How many trials are over, how they ended, and how long they took."""
        over, finals = self._over(), self.finals().values()
        own = [outcome.seconds or 0.0 for _, outcome in over]
        return Counts(
            trials=len(over),
            pruned=sum(trial.state == TrialState.PRUNED for trial, _ in over),
            failed=sum(t.state == TrialState.FAIL or outcome.diverged for t, outcome in over),
            seconds=sum(own) + sum(final.seconds or 0.0 for final in finals),
            finalists=len(finals),
        )

    def rows(self) -> list[TrialRow]:
        """One row per trial that is over."""
        finals, nothing = self.finals(), Outcome()
        return [
            TrialRow(
                trial=trial.number,
                state="diverged" if own.diverged else trial.state.name.lower(),
                val_score=own.val_score,
                val_loss=own.val_loss,
                best_epoch=own.best_epoch,
                seconds=own.seconds,
                final_val_score=finals.get(trial.number, nothing).val_score,
                final_val_loss=finals.get(trial.number, nothing).val_loss,
                chosen=in_effect(self.chosen(trial.params)),
            )
            for trial, own in self._over()
        ]


def _outcome(trial: FrozenTrial) -> Outcome:
    """The outcome of a trial's own runs, as far as it is known."""
    return Outcome.from_dict(trial.user_attrs)


def _distribution(choices: tuple[Any, ...]) -> BaseDistribution:
    """Evenly spaced numbers keep their order; other choices are categories."""
    if len(choices) > 2 and all(isinstance(choice, float) for choice in choices):
        steps = [b - a for a, b in pairwise(choices)]
        if all(math.isclose(step, steps[0]) for step in steps):
            return FloatDistribution(choices[0], choices[-1], step=round(steps[0], 10))
    return CategoricalDistribution(choices)
