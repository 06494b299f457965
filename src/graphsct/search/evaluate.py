"""The objective: candidates trained together, and judged by validation alone."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from graphsct.search.blind import BlindData
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.many import materialize, room
from graphsct.training.runner import Best, Runner
from graphsct.training.seeding import seeded
from graphsct.training.tracks import shape_of

__all__ = ["RUNGS", "Candidate", "Judge", "Score", "evaluate"]

#: Epochs after which candidates without hope are given up. Not earlier, because with a small
#: learning rate good settings are still behind then.
RUNGS = (100, 200, 400, 800)


@dataclass(frozen=True)
class Candidate:
    """Settings to try: a model, how to train it, and the number of runs.

    Args:
        model: settings of the model
        train: settings of the training; run i has its seed plus i, and split i modulo their number
        runs: number of runs
        normalize: make the rows of the features sum to one
    """

    model: ModelConfig
    train: TrainConfig
    runs: int
    normalize: bool = False


class Score(NamedTuple):
    """Means over the runs of a candidate, each validated at its best epoch."""

    val_score: float
    val_loss: float
    best_epoch: float
    seconds: float


class Judge(Protocol):
    """Receives the scores of candidates, each by its number."""

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        """Take the score at a rung; return whether to prune the candidate."""

    def done(self, candidate: int, score: Score) -> None:
        """Take the last score."""

    def diverged(self, candidate: int, seconds: float) -> None:
        """Record that a run diverged."""


def evaluate(
    candidates: Sequence[Candidate],
    data: BlindData,
    judge: Judge,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train candidates rung by rung, those of one shape together, and report to a judge.

    Args:
        candidates: with the same number of epochs, patience and selection
        data: data without test nodes
        judge: gets the scores at every rung and at the end of each candidate
        stop: called after every epoch; if true, training ends with unfinished candidates
    """
    _Group(candidates, data, judge, stop).train()


class _Run(NamedTuple):
    candidate: int
    number: int


class _Group:
    def __init__(
        self,
        candidates: Sequence[Candidate],
        data: BlindData,
        judge: Judge,
        stop: Callable[[], bool],
    ) -> None:
        self.judge, self.stop = judge, stop
        self.candidates = candidates
        self.going = set(range(len(candidates)))
        self.left = [candidate.runs for candidate in candidates]  # runs that are not over
        self.last: dict[_Run, Best] = {}  # the latest validation of each run
        self.seconds: dict[int, float] = defaultdict(float)
        self.runners = list(self._runners(data))

    def _runners(self, data: BlindData) -> Iterator[tuple[Runner, Sequence[_Run]]]:
        """Batches of runs with equal shapes, each as large as fits."""
        shapes: dict[Any, list[tuple[_Run, Any, TrainConfig]]] = defaultdict(list)
        for number, candidate in enumerate(self.candidates):
            for run in range(candidate.runs):
                config = replace(candidate.train, seed=candidate.train.seed + run)
                with seeded(config.seed):
                    model = candidate.model.build(data).to(data.views[0].x.device)
                first = data.views_of(model, normalize=candidate.normalize)[0]
                materialize(model, first, config)
                kind = candidate.normalize, shape_of(model, config)
                shapes[kind].append((_Run(number, run), model, config))
        for (normalize, _), alike in shapes.items():
            all_views = data.views_of(alike[0][1], normalize=normalize)
            size = room(alike[0][1], all_views[0])
            for start in range(0, len(alike), size):
                runs, models, settings = zip(*alike[start : start + size], strict=True)
                views = [all_views[run.number % len(all_views)] for run in runs]
                yield Runner(models, views, settings), runs

    def train(self) -> None:
        last = self.candidates[0].train.epochs
        for rung in [*(rung for rung in RUNGS if rung < last), last]:
            for runner, runs in self.runners:
                self._advance(runner, runs, rung)
            if self.stop():
                return
            for number in sorted(self.going):
                if self.judge.hopeless(number, rung, self._score(number)):
                    self.going.remove(number)

    def _advance(self, runner: Runner, runs: Sequence[_Run], until: int) -> None:
        """Train up to a rung."""
        self._leave(runner, runs)
        started = time.perf_counter()
        for _ in runner.epochs(until, self.stop):
            share = (time.perf_counter() - started) / len(runner.going)
            for run in runner.going:
                self.seconds[runs[run].candidate] += share
            for candidate in {runs[run].candidate for run in runner.diverged} & self.going:
                self.going.remove(candidate)
                self.judge.diverged(candidate, self.seconds[candidate])
            over = runner.over
            for run in over:
                self.last[runs[run]] = runner.best(run)
            for run in over:
                self._end(runs[run].candidate)
            self._leave(runner, runs)
            started = time.perf_counter()
        for run in runner.going:
            self.last[runs[run]] = runner.best(run)

    def _leave(self, runner: Runner, runs: Sequence[_Run]) -> None:
        """Remove the runs of pruned candidates from the training."""
        runner.leave([run for run in runner.going if runs[run].candidate not in self.going])

    def _end(self, candidate: int) -> None:
        """Record the end of a run."""
        self.left[candidate] -= 1
        if not self.left[candidate] and candidate in self.going:
            self.going.remove(candidate)
            self.judge.done(candidate, self._score(candidate))

    def _score(self, candidate: int) -> Score:
        found = [best for run, best in self.last.items() if run.candidate == candidate]
        return Score(
            val_score=fmean(best.val_score for best in found),
            val_loss=fmean(best.val_loss for best in found),
            best_epoch=fmean(best.best_epoch for best in found),
            seconds=self.seconds[candidate],
        )
