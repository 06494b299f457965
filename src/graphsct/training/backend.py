"""The backends of training: how an epoch of some runs is computed.

The backend decides the speed, never the result: the same seed draws the same dropout masks, and
the losses are equal up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.datasets.targets import merged
from graphsct.engine.build import DIFFERING
from graphsct.engine.engine import Engine, supports
from graphsct.graph import Graph
from graphsct.graph.autocast import is_active
from graphsct.training.autograd import Autograd
from graphsct.training.config import TrainConfig
from graphsct.training.data import TrainingData
from graphsct.training.graphs import TrainingGraphs
from graphsct.training.mini_batches import MiniBatches
from graphsct.training.seeding import dropout_generator
from graphsct.training.selection import Scores

__all__ = ["DIFFERING", "Backend", "EngineBackend", "MakeBackend", "choose_backend"]

Weights = dict[str, Tensor]


class Backend(Protocol):
    """The computation of one or more runs of equal shape; k is their number.

    Attributes:
        name: its name in the record of each run
    """

    name: str

    def descend(self) -> Tensor:
        """Make one training step in each run; return the losses before it; shape: ``(k,)``."""

    def validate(self) -> Scores:
        """Evaluate the current weights of each run."""

    def remember(self, better: Tensor) -> None:
        """Keep the current weights of these runs as their best; shape: ``(k,)`` of bool."""

    def weights(self, run: int) -> Weights:
        """The best weights of a run so far, by their names in the model."""

    def current(self, run: int) -> Weights:
        """A copy of the current weights of a run, by their names in the model."""

    def keep(self, runs: Tensor) -> None:
        """Continue with these runs only, given by their numbers; shape: ``(k',)``."""

    def state(self, run: int, best: Weights | None = None) -> dict[str, Tensor]:
        """Everything that the rest of a run depends on, random numbers included.

        Args:
            run: number of the run
            best: weights to store in place of the run's best ones
        """

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue a single run from its :meth:`state`, bit for bit."""


class MakeBackend(Protocol):
    """A function that starts a backend, such as the class of a backend."""

    def __call__(
        self,
        models: Sequence[torch.nn.Module],
        data: Sequence[TrainingData],
        configs: Sequence[TrainConfig],
    ) -> Backend:
        """Start the runs, each with its model, data and settings."""


def choose_backend(model: torch.nn.Module, data: TrainingData) -> type[EngineBackend | Autograd]:
    """The fastest backend that can train a model on these data."""
    if isinstance(data, TrainingGraphs):
        return MiniBatches
    graph = data.edges[0]
    whole = isinstance(graph, Graph) and not graph.is_sample
    full = data.autocast is None and not is_active(data.x.device)
    fits = whole and full and supports(model, data.x, graph)
    return EngineBackend if fits else Autograd


class EngineBackend(Engine):
    """The :class:`~graphsct.engine.engine.Engine` as a backend.

    Args:
        models: models of equal shape, see :func:`~graphsct.training.tracks.shape_of`
        data: one per model, with the same features and graph
        configs: one per model
    """

    name = "engine"

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        data: Sequence[TrainingData],
        configs: Sequence[TrainConfig],
    ) -> None:
        first = data[0]
        scores = first.evaluate(models[0])  # the model itself refuses wrong input
        for own in {id(own): own for own in data}.values():
            own.check_scores(scores)
        # A run may see the targets in the masks of another; test nodes are in no mask.
        y = merged([own.y for own in data])
        splits = [Split(own.train, own.val, torch.zeros_like(own.val)) for own in data]
        generators = [dropout_generator(config.seed) for config in configs]
        objective = first.objective
        counted = objective.kind == "classes" and objective.metric.name == "accuracy"
        super().__init__(
            models,
            first.x,
            first.edges[0],
            y,
            splits,
            configs,
            generators,
            objective.kind,
            None if counted else objective.score,
        )

    def validate(self) -> Scores:
        """Evaluate the current weights of each run."""
        return Scores(*super().validate())
