"""The backend for lists of graphs, which are trained in mini-batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from graphsct.nn.dropout import make_masks
from graphsct.training.autograd import Autograd, AutogradRun
from graphsct.training.config import TrainConfig
from graphsct.training.graphs import TrainingGraphs
from graphsct.training.seeding import dropout_generator, seed_of

__all__ = ["BATCH_SIZE", "MiniBatchRun", "MiniBatches"]

#: The most graphs in a batch, if the settings name no other number.
BATCH_SIZE = 32


class MiniBatchRun(AutogradRun):
    """Adam on one batch of training graphs after another, in a new random order each epoch.

    The batches of an epoch are as equal in size as they can be, so that none is left with a single
    graph, for which a norm would have no variance.

    Args:
        model: the model, whose weights are updated in place
        data: the graphs; those outside of the two masks are never looked at
        config: settings of training
    """

    data: TrainingGraphs

    def __init__(self, model: Any, data: TrainingGraphs, config: TrainConfig) -> None:
        masks = make_masks(dropout_generator(config.seed, data.x.device))
        super().__init__(model, data.blind(), config, masks)
        self._order = torch.Generator().manual_seed(seed_of(config.seed, 2))
        self._batches = -(-len(self.train) // (config.batch_size or BATCH_SIZE))
        self.data.check_scores(self.evaluate())

    def steps(self) -> Tensor:
        """Make a step for each batch, and return the loss before each, as a mean over graphs."""
        order = torch.randperm(len(self.train), generator=self._order)
        batches = self.train[order.to(self.train.device)].tensor_split(self._batches)
        losses = [len(batch) * self.step(batch) for batch in batches]
        return torch.stack(losses).sum() / len(self.train)

    def forward(self, rows: Tensor) -> Tensor:
        """The scores of some graphs."""
        return self.data.scores_of(self.model, rows)

    def loss(self, scores: Tensor, rows: Tensor) -> Tensor:
        """Mean loss of these graphs."""
        return self.data.objective.loss(scores, self.data.y[rows])

    def state(self, best: Mapping[str, Tensor] | None) -> dict[str, Tensor]:
        """See :meth:`graphsct.training.backend.Backend.state`."""
        return super().state(best) | {"order": self._order.get_state()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`graphsct.training.backend.Backend.restore`."""
        super().restore(tensors)
        self._order.set_state(tensors["order"])


class MiniBatches(Autograd):
    """A :class:`~graphsct.training.backend.Backend` for lists of graphs, which any models fit.

    Args:
        models: models of any kind
        data: one per model
        configs: one per model
    """

    def begin(self, model: torch.nn.Module, data: Any, config: TrainConfig) -> AutogradRun:
        """Start one run."""
        return MiniBatchRun(model, data, config)
