"""One step of training by all processes together."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.distributed.collectives import rank, total
from graphsct.distributed.noise import SharedNoise
from graphsct.training.config import TrainConfig
from graphsct.training.data import Problem
from graphsct.training.trial import Plain

__all__ = ["Together"]


class Together(Plain):
    r"""Full-batch Adam whose loss is that of the training nodes of all processes.

    .. math::
        L = \sum_q \frac 1 {|T|} \sum_{i \in T_q} \ell_i + \text{penalty}, \qquad
        \nabla L = \sum_q \nabla L_q

    Each process has all weights. It adds its part :math:`L_q` of the loss, process 0 also the
    penalty; gradients are added up before each makes the same step.

    Args:
        model: of :mod:`graphsct.nn`, with the same weights in all processes
        problem: of this process
        config: how to train
        noise: of dropout
    """

    def __init__(
        self, model: Any, problem: Problem, config: TrainConfig, noise: SharedNoise
    ) -> None:
        super().__init__(model, problem, config)
        self._noise = problem.edges[0].noise = noise
        self._test = problem.split.test.nonzero()[:, 0]
        own = torch.tensor([len(rows) for rows in (self._train, self._val, self._test)])
        self._counts = total(own.to(problem.x.device))
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]

    def descend(self) -> Tensor:
        """One step of training; the loss before it."""
        self.model.train()
        self.optimizer.zero_grad()
        self._noise.begin()
        loss = self._loss(self._scores(), self._train) / self._counts[0]
        if rank() == 0:
            loss = loss + self.model.penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        loss = self._add_up(loss.detach())
        self.optimizer.step()
        return loss.double().cpu().view(1)

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss, training and validation accuracy."""
        self.model.eval()
        scores = self._scores()
        sums = [self._loss(scores, self._val).double()]
        sums += [self._right(scores, rows) for rows in (self._train, self._val)]
        loss, train, val = total(torch.stack(sums)).cpu()
        counts = self._counts.cpu()
        return (loss / counts[1]).view(1), (train / counts[0]).view(1), (val / counts[1]).view(1)

    @torch.no_grad()
    def test(self) -> float:
        """Put the best weights into the model and look at the test nodes, for the only time."""
        self.model.load_state_dict(self.weights())
        self.model.eval()
        right = total(self._right(self._scores(), self._test))
        return float(right / self._counts[2])

    def _scores(self) -> Tensor:
        scores: Tensor = self.model(self.problem.x, *self.problem.edges)
        return scores

    def _loss(self, scores: Tensor, rows: Tensor) -> Tensor:
        return F.cross_entropy(scores[rows], self.problem.y[rows], reduction="sum")

    def _right(self, scores: Tensor, rows: Tensor) -> Tensor:
        return (scores[rows].argmax(dim=1) == self.problem.y[rows]).double().sum()

    def _add_up(self, loss: Tensor) -> Tensor:
        """Gradients of all processes in place of own ones, and the whole loss, in one message."""
        grads = [weight.grad for weight in self._weights if weight.grad is not None]
        summed = total(torch.cat([loss.view(1), *(grad.flatten() for grad in grads)]))
        whole, *parts = torch.split(summed, [1, *(grad.numel() for grad in grads)])
        for grad, part in zip(grads, parts, strict=True):
            grad.copy_(part.view_as(grad))
        return whole
