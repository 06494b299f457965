"""Runs of one shape under way, of which nothing sees a test node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.training.config import TrainConfig
from graphsct.training.problem import Blind
from graphsct.training.run import Epoch
from graphsct.training.selection import Selection
from graphsct.training.trial import make_engine, pack, seed_of

__all__ = ["Batch", "Best", "shape_of"]


class Best(NamedTuple):
    """What validation says of a run so far: its best epoch, and how many there were."""

    val_accuracy: float
    val_loss: float
    best_epoch: int
    epochs: int


class Batch:
    """Models of one shape, trained together epoch by epoch; runs are known by their numbers.

    Args:
        models: for which :func:`~graphsct.training.trial.fits_engine` and equal :func:`shape_of`
        problems: one for each, of the same features and graph
        configs: one for each
    """

    def __init__(
        self, models: Sequence[Any], problems: Sequence[Blind], configs: Sequence[TrainConfig]
    ) -> None:
        self.config = configs[0]
        self.generators = [
            torch.Generator().manual_seed(seed_of(config.seed, 1)) for config in configs
        ]
        self.histories: list[list[Epoch]] = [[] for _ in models]
        #: The runs that are not over.
        self.going = list(range(len(models)))
        self._engine = make_engine(models, problems, configs, self.generators)
        self._selection = Selection(self.config.select, self.config.patience, (len(models),))

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
        better = self._selection.update(numbers[1], numbers[3])
        for run, row in zip(self.going, numbers.t().tolist(), strict=True):
            self.histories[run].append(Epoch(self.epoch, *row))
        if bool(better.any()):
            self._engine.remember(better)
        lost = ~torch.isfinite(numbers[:2]).all(0)
        return [self.going[place] for place in lost.nonzero()[:, 0].tolist()]

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
        return self._engine.weights(self.going.index(run))

    def state(self, run: int) -> dict[str, Tensor]:
        """What a checkpoint of one run holds."""
        place = self.going.index(run)
        chosen = self._selection.state()
        alone = {k: v if k == "epoch" else v[place] for k, v in chosen.items()}
        random = self.generators[run].get_state()
        return pack(self._engine.state(place), alone, self.histories[run], random)

    def leave(self, runs: Collection[int]) -> None:
        """Go on without these runs."""
        rest = torch.tensor([place for place, run in enumerate(self.going) if run not in runs])
        if len(rest) == len(self.going):
            return
        self.going = [self.going[place] for place in rest.tolist()]
        if self.going:
            self._engine.keep(rest)
            self._selection.keep(rest)


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
    limits = config.epochs, config.patience, config.select, config.checkpoint_every
    return type(model), tuple(settings), tuple(weights), limits
