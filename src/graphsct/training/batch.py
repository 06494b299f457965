"""Runs of one shape under way, of which nothing sees a test node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.training.config import TrainConfig
from graphsct.training.data import Blind
from graphsct.training.run import Epoch
from graphsct.training.selection import Selection
from graphsct.training.trial import make_engine, pack, seed_of

__all__ = ["Batch", "Best", "shape_of", "tracks"]


class Best(NamedTuple):
    """What validation says of a run so far: its best epoch, and how many there were."""

    val_accuracy: float
    val_loss: float
    best_epoch: int
    epochs: int


class Batch:
    """Models of one shape, trained together epoch by epoch; runs are known by their numbers.

    Runs that differ in nothing but the rule that chooses their epoch are one *track*: it is trained
    once, and goes on until the last of its runs is over.

    Args:
        models: for which :func:`~graphsct.training.trial.fits_engine` and equal :func:`shape_of`
        problems: one for each, of the same features and graph
        configs: one for each
    """

    def __init__(
        self, models: Sequence[Any], problems: Sequence[Blind], configs: Sequence[TrainConfig]
    ) -> None:
        self.config = configs[0]
        self.histories: list[list[Epoch]] = [[] for _ in models]
        #: The runs that are not over.
        self.going = list(range(len(models)))
        self._track_of = tracks(models, problems, configs)
        self._tracks = list(dict.fromkeys(self._track_of))  # those that are trained
        self.generators = {
            track: torch.Generator().manual_seed(seed_of(configs[track].seed, 1))
            for track in self._tracks
        }
        self._engine = make_engine(
            [models[track] for track in self._tracks],
            [problems[track] for track in self._tracks],
            [configs[track] for track in self._tracks],
            list(self.generators.values()),
        )
        rules = [config.select for config in configs]
        self._selection = Selection(rules, self.config.patience, (len(models),))
        # The best weights of runs that share a track; the engine keeps those of the others.
        self._shared: dict[int, Tensor | None] = {
            run: None for run, track in enumerate(self._track_of) if self._track_of.count(track) > 1
        }

    @property
    def epoch(self) -> int:
        """How many there have been."""
        return self._selection.epoch

    @property
    def over(self) -> list[int]:
        """The runs that have waited long enough or reached their last epoch."""
        over = self._selection.stopped | (self.epoch >= self.config.epochs)
        return [self.going[place] for place in over.nonzero()[:, 0].tolist()]

    def step(self) -> list[int]:
        """Train for one epoch and validate; the runs whose losses are no numbers any more."""
        numbers = torch.stack([self._engine.descend(), *self._engine.validate()])
        if self._shared:
            numbers = numbers[:, [self._place(run) for run in self.going]]
        better = self._selection.update(numbers[1], numbers[3])
        for run, row in zip(self.going, numbers.t().tolist(), strict=True):
            self.histories[run].append(Epoch(self.epoch, *row))
        if bool(better.any()):
            self._remember(better)
        lost = ~torch.isfinite(numbers[:2]).all(0)
        return [self.going[place] for place in lost.nonzero()[:, 0].tolist()]

    def _place(self, run: int) -> int:
        """Where the engine has the track of a run."""
        return self._tracks.index(self._track_of[run])

    def _remember(self, better: Tensor) -> None:
        if not self._shared:
            self._engine.remember(better)
            return
        alone = torch.zeros(len(self._tracks), dtype=torch.bool)
        for run in (self.going[place] for place in better.nonzero()[:, 0].tolist()):
            if run in self._shared:
                self._shared[run] = self._engine.stack.flatten("value", self._place(run))
            else:
                alone[self._place(run)] = True
        self._engine.remember(alone)

    def best(self, run: int) -> Best:
        """The best epoch of a run so far."""
        place, chosen = self.going.index(run), self._selection
        return Best(
            val_accuracy=chosen.val_accuracy[place].item(),
            val_loss=chosen.val_loss[place].item(),
            best_epoch=int(chosen.best_epoch[place]),
            epochs=self.epoch,
        )

    def weights(self, run: int) -> dict[str, Tensor]:
        """The weights of its best epoch."""
        best = self._shared.get(run)
        if best is not None:
            return self._engine.stack.unflatten(best)
        return self._engine.weights(self._place(run))

    def state(self, run: int) -> dict[str, Tensor]:
        """What a checkpoint of one run holds."""
        place = self.going.index(run)
        chosen = self._selection.state()
        alone = {k: v if k == "epoch" else v[place] for k, v in chosen.items()}
        random = self.generators[self._track_of[run]].get_state()
        way = self._engine.state(self._place(run))
        best = self._shared.get(run)
        if best is not None:
            way["engine.best"] = best
        return pack(way, alone, self.histories[run], random)

    def leave(self, runs: Collection[int]) -> None:
        """Go on without these runs."""
        rest = torch.tensor([place for place, run in enumerate(self.going) if run not in runs])
        if len(rest) == len(self.going):
            return
        self.going = [self.going[place] for place in rest.tolist()]
        if not self.going:
            return
        self._selection.keep(rest)
        left = {self._track_of[run] for run in self.going}
        if len(left) < len(self._tracks):
            places = [place for place, track in enumerate(self._tracks) if track in left]
            self._tracks = [self._tracks[place] for place in places]
            self._engine.keep(torch.tensor(places))


def tracks(
    models: Sequence[Any], problems: Sequence[Blind], configs: Sequence[TrainConfig]
) -> list[int]:
    """For each run the first that differs in nothing but the rule: what it trains is the same."""
    firsts: dict[Any, list[int]] = {}
    found = []
    for run, (model, problem, config) in enumerate(zip(models, problems, configs, strict=True)):
        alike = firsts.setdefault((replace(config, select="val_loss"), shape_of(model, config)), [])
        same = (
            first
            for first in alike
            if _equal(models[first].parameters(), model.parameters())
            and _equal(_masks(problems[first]), _masks(problem))
            and _rates(models[first]) == _rates(model)
        )
        first = next(same, run)
        if first == run:
            alike.append(run)
        found.append(first)
    return found


def _equal(some: Iterable[Tensor], other: Iterable[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(some, other, strict=True))


def _masks(problem: Blind) -> tuple[Tensor, Tensor]:
    return problem.train, problem.val


def _rates(model: Any) -> tuple[Any, Any]:
    return model.dropout, model.conv_dropout


def shape_of(model: Any, config: TrainConfig) -> Any:
    """Equal for models that can be trained together."""
    settings = [
        (path, name, value)
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, bool | int | float | str)
        and name not in ("training", "dropout", "conv_dropout")
    ]
    weights = [(name, value.shape, value.dtype) for name, value in model.named_parameters()]
    limits = config.epochs, config.patience, config.checkpoint_every
    # A run without dropout would draw random numbers for it beside one with it.
    dropped = model.dropout > 0, model.conv_dropout > 0
    return type(model), tuple(settings), tuple(weights), limits, dropped
