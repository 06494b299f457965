"""The objective: trials trained together, and judged by validation alone."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from graphsct.errors import TrainingError
from graphsct.search.blind import BlindData
from graphsct.training.batch import Batch, Best, shape_of
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.many import room
from graphsct.training.trial import fits_engine, seeded

__all__ = ["RUNGS", "Candidate", "Judge", "Score", "evaluate"]

#: After so many epochs trials are looked at, and those without hope given up. Not before: with a
#: small learning rate, good settings are still behind then.
RUNGS = (100, 200, 400, 800)


@dataclass(frozen=True)
class Candidate:
    """One trial: what to build, how to train it, and how many runs there are.

    Args:
        model: what to build
        train: how to train; run i has its seed plus i, and split i modulo their number
        runs: how many
        normalize: make the rows of the features sum to one
    """

    model: ModelConfig
    train: TrainConfig
    runs: int
    normalize: bool = False


class Score(NamedTuple):
    """Means over the runs of a trial, of what validation says at the best epoch of each."""

    val_accuracy: float
    val_loss: float
    best_epoch: float
    seconds: float


class Judge(Protocol):
    """What is told of candidates, by their numbers."""

    def hopeless(self, candidate: int, epoch: int, score: Score) -> bool:
        """Take the score at a rung; whether to give the candidate up."""

    def done(self, candidate: int, score: Score) -> None:
        """Take the last score."""

    def diverged(self, candidate: int, seconds: float) -> None:
        """Take note that the losses of a run are no numbers any more."""


def evaluate(
    candidates: Sequence[Candidate],
    data: BlindData,
    judge: Judge,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train candidates rung by rung, those of a shape together, and tell a judge what they give.

    Args:
        candidates: with the same number of epochs, patience and selection
        data: without test nodes
        judge: is told of every rung, and once of the end of each candidate
        stop: asked after every epoch; if it says so, candidates under way are left as they are
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
        self.last: dict[_Run, Best] = {}  # what validation said of each run last
        self.seconds: dict[int, float] = defaultdict(float)
        self.batches = list(self._batches(data))

    def _batches(self, data: BlindData) -> Any:
        shapes: dict[Any, list[tuple[_Run, Any, TrainConfig]]] = defaultdict(list)
        for number, candidate in enumerate(self.candidates):
            for run in range(candidate.runs):
                config = replace(candidate.train, seed=candidate.train.seed + run)
                with seeded(config.seed):
                    model = candidate.model.build(data)
                if not fits_engine(model, data.views[0]):
                    raise TrainingError(
                        f"{candidate.model} cannot be searched on {data.views[0].x.device}: that "
                        "takes data on the CPU, no norm, and an activation other than silu"
                    )
                kind = candidate.normalize, shape_of(model, config)
                shapes[kind].append((_Run(number, run), model, config))
        for (normalize, _), alike in shapes.items():
            all_views = data.normalized if normalize else data.views
            size = room(alike[0][1], all_views[0])
            for start in range(0, len(alike), size):
                runs, models, settings = zip(*alike[start : start + size], strict=True)
                views = [all_views[run.number % len(all_views)] for run in runs]
                yield Batch(models, views, settings), runs

    def train(self) -> None:
        last = self.candidates[0].train.epochs
        for rung in [*(rung for rung in RUNGS if rung < last), last]:
            for batch, runs in self.batches:
                self._advance(batch, runs, rung)
            if self.stop():
                return
            for number in sorted(self.going):
                if self.judge.hopeless(number, rung, self._score(number)):
                    self.going.remove(number)

    def _advance(self, batch: Batch, runs: Sequence[_Run], until: int) -> None:
        """Train a batch up to a rung."""
        while not self.stop():
            batch.leave([r for r in batch.going if runs[r].candidate not in self.going])
            if not batch.going or batch.epoch >= until:
                break
            started = time.perf_counter()
            lost = batch.step()
            share = (time.perf_counter() - started) / len(batch.going)
            for r in batch.going:
                self.seconds[runs[r].candidate] += share
            over = batch.over
            for r in over:
                self.last[runs[r]] = batch.best(r)
            for candidate in {runs[r].candidate for r in lost}:
                self.going.discard(candidate)
                self.judge.diverged(candidate, self.seconds[candidate])
            for candidate in [runs[r].candidate for r in over]:
                self._end(candidate)
            batch.leave(over)
        for r in batch.going:
            self.last[runs[r]] = batch.best(r)

    def _end(self, candidate: int) -> None:
        """Take note that a run is over."""
        self.left[candidate] -= 1
        if not self.left[candidate] and candidate in self.going:
            self.going.remove(candidate)
            self.judge.done(candidate, self._score(candidate))

    def _score(self, candidate: int) -> Score:
        found = [best for run, best in self.last.items() if run.candidate == candidate]
        return Score(
            val_accuracy=fmean(best.val_accuracy for best in found),
            val_loss=fmean(best.val_loss for best in found),
            best_epoch=fmean(best.best_epoch for best in found),
            seconds=self.seconds[candidate],
        )
