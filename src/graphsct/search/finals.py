"""The best trials once more, with more runs: of many trials with few, the best is a lucky one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from graphsct.search.blind import BlindData
from graphsct.search.evaluate import Score, evaluate

if TYPE_CHECKING:
    from graphsct.search.study import Study
    from graphsct.search.worker import Plan

__all__ = ["TIMES", "hold_finals"]

#: So many times the runs of a trial has a finalist.
TIMES = 5


def hold_finals(
    plan: Plan,
    study: Study,
    data: BlindData,
    stop: Callable[[], bool],
    show: Callable[[Study], None],
) -> None:
    """Train the best trials with more runs, those that have not been, and keep their scores.

    Nothing is done while another process still has trials: it will do it when it ends. A study that
    had finals has as many again, or what it tries later could never win.

    Args:
        plan: says how many
        study: opened by the plan
        data: without test nodes
        stop: asked after every epoch; a finalist under way is begun again by whoever goes on
        show: called after each
    """
    for trial in study.finalists(max(plan.finalists, len(study.finals()))):
        candidate = plan.candidate(study.chosen(trial.params))
        judge = _Patient()
        evaluate([replace(candidate, runs=TIMES * plan.runs)], data, judge, stop)
        if judge.result is None:
            break
        study.set_final(trial, judge.result)
        show(study)


class _Patient:
    """Waits for the end of one candidate; its result is plain values."""

    def __init__(self) -> None:
        self.result: dict[str, float] | None = None

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        return False

    def done(self, candidate: int, score: Score) -> None:
        self.result = score._asdict()

    def diverged(self, candidate: int, seconds: float) -> None:
        self.result = {"diverged": True, "seconds": seconds}
