"""The backend that trains one run by all processes together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.distributed.collectives import rank, total
from graphsct.distributed.noise import SharedMasks
from graphsct.distributed.part import Part
from graphsct.training.autograd import Autograd, AutogradRun
from graphsct.training.config import TrainConfig
from graphsct.training.data import TrainingData
from graphsct.training.seeding import dropout_generator

__all__ = ["Distributed", "DistributedRun"]


class DistributedRun(AutogradRun):
    r"""Full-batch Adam whose loss is that of the training nodes of all processes.

    .. math::
        L = \sum_q \frac 1 {|T|} \sum_{i \in T_q} \ell_i + \text{penalty}, \qquad
        \nabla L = \sum_q \nabla L_q

    Each process has all weights. It adds its part :math:`L_q` of the loss, process 0 also the
    penalty; gradients are added up before each makes the same step.

    Args:
        model: model of :mod:`graphsct.nn`, with the same weights in all processes
        part: part of this process
        data: data of this process
        config: settings of training
        split: number of the split
    """

    def __init__(
        self, model: Any, part: Part, data: TrainingData, config: TrainConfig, split: int
    ) -> None:
        masks = SharedMasks(dropout_generator(config.seed), part, split)
        super().__init__(model, data, config, masks)
        own = torch.tensor([len(rows) for rows in (self.train, self.val)])
        self._counts = total(own.to(data.x.device))
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]

    def backward(self, scores: Tensor, rows: Tensor) -> Tensor:
        """Compute the gradients of all processes, and return the whole loss."""
        loss = self._sum(scores, rows) / self._counts[0]
        if rank() == 0:
            loss = loss + self.model.penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        return self._add_up(loss.detach())

    def measure(self, scores: Tensor) -> Tensor:
        """Validation loss, training and validation accuracy of all nodes; shape: ``(3,)``."""
        right = scores.argmax(dim=1) == self.data.y
        sums = [self._sum(scores, self.val).double()]
        sums += [right[rows].double().sum() for rows in (self.train, self.val)]
        counts = self._counts[[1, 0, 1]]
        return total(torch.stack(sums)) / counts

    def _sum(self, scores: Tensor, rows: Tensor) -> Tensor:
        return F.cross_entropy(scores[rows], self.data.y[rows], reduction="sum")

    def _add_up(self, loss: Tensor) -> Tensor:
        """Sum the gradients and losses of all processes in one message."""
        grads = [weight.grad for weight in self._weights if weight.grad is not None]
        summed = total(torch.cat([loss.view(1), *(grad.flatten() for grad in grads)]))
        whole, *parts = torch.split(summed, [1, *(grad.numel() for grad in grads)])
        for grad, part in zip(grads, parts, strict=True):
            grad.copy_(part.view_as(grad))
        return whole[0]


class Distributed(Autograd):
    """A :class:`~graphsct.training.backend.Backend` over the processes of one training.

    Args:
        models: models of :mod:`graphsct.nn`
        data: one per model, of :meth:`graphsct.distributed.Part.data`
        configs: one per model
        part: part of this process
        split: number of the split
    """

    name = "distributed"

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        data: Sequence[TrainingData],
        configs: Sequence[TrainConfig],
        *,
        part: Part,
        split: int = 0,
    ) -> None:
        self._part, self._split = part, split
        super().__init__(models, data, configs)

    def begin(self, model: torch.nn.Module, data: TrainingData, config: TrainConfig) -> AutogradRun:
        """Start one run."""
        return DistributedRun(model, self._part, data, config, self._split)
