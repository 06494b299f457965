"""The finals: the best trials, trained again with more runs. The best of many is often lucky."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from graphsct.search.blind import BlindData
from graphsct.search.evaluate import Score, evaluate
from graphsct.search.outcome import Outcome

if TYPE_CHECKING:
    from graphsct.search.study import Study
    from graphsct.search.worker import Plan

__all__ = ["TIMES", "hold_finals"]

#: A finalist has this many times the runs of a trial.
TIMES = 5


def hold_finals(
    plan: Plan,
    study: Study,
    data: BlindData,
    stop: Callable[[], bool],
    show: Callable[[Study], None],
) -> None:
    """Train the best trials that were not in the finals yet with more runs, and keep their scores.

    While another process still trains, nothing happens here: that process holds the finals when it
    ends. A resumed study has at least as many finalists as before, or later trials could never win.

    Args:
        plan: the plan of the search, with the number of finalists
        study: the study that the plan opened
        data: data without test nodes
        stop: called after every epoch; an interrupted finalist is trained again by the next process
        show: called after each finalist
    """
    for trial in study.finalists(max(plan.finalists, len(study.finals()))):
        candidate = plan.candidate(study.chosen(trial.params))
        judge = _Patient()
        evaluate([replace(candidate, runs=TIMES * plan.runs)], plan.place(data), judge, stop)
        if judge.outcome is None:
            break
        study.set_final(trial, judge.outcome)
        show(study)


class _Patient:
    """Keeps the outcome of one candidate."""

    def __init__(self) -> None:
        self.outcome: Outcome | None = None

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        return False

    def done(self, candidate: int, score: Score) -> None:
        self.outcome = Outcome.of(score)

    def diverged(self, candidate: int, seconds: float) -> None:
        self.outcome = Outcome(diverged=True, seconds=seconds)
