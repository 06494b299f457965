r"""The last linear layer of k runs, their losses and their metrics.

Scores are kept class by class, ``(k, C, r)``, which makes softmax ten times as fast: nodes fill the
processor's wide registers, and a handful of classes does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.datasets.targets import Kind
from graphsct.engine.program import Program, apart
from graphsct.engine.tape import Node

__all__ = ["LOSSES", "BinaryCrossEntropy", "CrossEntropy", "Loss", "Measure", "SquaredError"]

_aten = torch.ops.aten

#: Computes a metric from scores and targets; shapes: ``(n, outputs), (n,) or (n, t) -> ()``.
Measure = Callable[[Tensor, Tensor], Tensor]


class Loss(Node, ABC):
    """The loss of k runs, from the features before the last linear layer.

    Args:
        scores: the last linear layer, which the loss replaces
        y: targets of all nodes; shape: ``(n,)`` or ``(n, t)``
        splits: one per run
        part: the part of the split to compute the loss on, ``train`` or ``val``
        loss: where to write the loss; shape: ``(k,)``
        measured: where to write the metric of training and validation nodes, if it is wanted;
            shape: ``(k, 2)``
        measure: computes the metric from scores and targets; defaults to the accuracy of classes
    """

    def __init__(
        self,
        scores: Any,
        y: Tensor,
        splits: Sequence[Split],
        part: str,
        loss: Tensor,
        measured: Tensor | None = None,
        measure: Measure | None = None,
    ) -> None:
        super().__init__(scores.tape, scores.inputs, scores.width)
        self.weight, self.bias = scores.matrix.weight, scores.bias
        self._loss, self._measured, self._measure = loss, measured, measure
        rows, self._dtype = self.tape.some, self.weight.value.dtype
        self._y = y[rows]
        self._parts = torch.stack(  # of the split, (k, 2, r)
            [torch.stack([split.train[rows], split.val[rows]]) for split in splits]
        )
        own = torch.stack([getattr(split, part)[rows] for split in splits])
        self._prepare(own.to(self._dtype).unsqueeze(1))

    @abstractmethod
    def _prepare(self, own: Tensor) -> None:
        """Prepare the loss; ``own`` is 1 at the nodes of the loss, else 0; shape: ``(k, 1, r)``."""

    @abstractmethod
    def _compare(self, do: Program) -> None:
        """Add the calls that compute the loss from the scores."""

    @abstractmethod
    def _differentiate(self, do: Program) -> None:
        """Add the calls that overwrite the scores with their gradient."""

    def keeps(self, x: Node) -> bool:
        """For the gradient of the weight."""
        return True

    def folds_scale(self, x: Node) -> bool:
        return True

    def allocate(self, do: Program) -> None:
        k, _, r = self._parts.shape
        self._scores, self._between = (do.arena.take(k, self.width, r) for _ in range(2))

    def forward(self, do: Program) -> None:
        """Write the loss, and the metrics if they are wanted."""
        (node,), k = self.inputs, self.tape.k
        right = apart(node.head, k).transpose(1, 2)
        left, scores = self.weight.value.transpose(1, 2), self._scores
        rest = {"alpha": node.scale} if self.bias is not None else {"alpha": node.scale, "beta": 0}
        start = scores if self.bias is None else self.bias.value.unsqueeze(2)
        if k == 1:
            do(torch.addmm, start[0], left[0], right[0], **rest, out=scores[0])
        else:
            do(torch.baddbmm, start, left, right, **rest, out=scores)
        self._compare(do)
        if self._measured is not None:
            if self._measure is None:
                self._count(do, self._measured)
            else:
                do(self._measure_all, self._measured, self._measure)
        if not self.tape.training:
            for array in (self._scores, self._between):
                do.arena.release(array)

    def _add_up(self, do: Program, some: Tensor, others: Tensor) -> None:
        """Write the sum of the products of two arrays, ``(k, C, r)`` each, as the loss."""
        k = len(some)
        total = do.scratch("loss", k, 1, 1)
        do(torch.bmm, some.view(k, 1, -1), others.view(k, -1, 1), out=total)
        do(self._loss.copy_, total.view(k))

    def _measure_all(self, measured: Tensor, measure: Measure) -> None:
        """Compute the metric of each run."""
        for run, (scores, parts) in enumerate(zip(self._scores, self._parts, strict=True)):
            for place, own in enumerate(parts):
                measured[run, place] = measure(scores.t()[own], self._y[own])

    def _count(self, do: Program, accuracy: Tensor) -> None:
        k, _, r = self._scores.shape
        parts = self._parts.to(self._dtype)
        best, guess = do.scratch("best", k, r), torch.empty(k, r, dtype=torch.long)
        do(torch.max, self._scores, 1, out=(best, guess))
        do(torch.eq, guess, self._y, out=best)
        right = do.scratch("right", k, 2, 1)
        do(torch.bmm, parts, best.unsqueeze(2), out=right)  # whole numbers, so exact
        do(torch.div, right[:, :, 0], parts.sum(2).double(), out=accuracy)

    def backward(self, do: Program) -> None:
        """Gradients of the features and the weights."""
        (node,), k = self.inputs, self.tape.k
        scale, dscores = node.scale, self._scores
        self._differentiate(do)
        if self.bias is not None:
            with self.bias.write_grad(do) as out:
                do(torch.sum, dscores, dim=2, out=out)
        left, x = dscores.transpose(1, 2), apart(node.head, k).transpose(1, 2)
        right = self.weight.value.transpose(1, 2)
        with self.weight.write_grad(do) as grad, node.write_grad(do) as out:
            out = apart(out, k)
            if k == 1:
                do(torch.addmm, grad[0], x[0], left[0], beta=0, alpha=scale, out=grad[0])
                do(torch.addmm, out[0], left[0], right[0], beta=0, alpha=scale, out=out[0])
            else:
                do(torch.baddbmm, grad, x, left, beta=0, alpha=scale, out=grad)
                do(torch.baddbmm, out, left, right, beta=0, alpha=scale, out=out)
        for array in (self._scores, self._between):
            do.arena.release(array)


class CrossEntropy(Loss):
    """The negative log-likelihood of classes."""

    def _prepare(self, own: Tensor) -> None:
        shares = own / own.sum(2, keepdim=True)
        one_hot = torch.nn.functional.one_hot(self._y, self.width).t().to(self._dtype)
        # The derivative of the loss by the log-probabilities, (k, C, r)
        self._slope = (-one_hot * shares).contiguous()

    def _compare(self, do: Program) -> None:
        do(_aten._log_softmax.out, self._scores, 1, False, out=self._between)
        self._add_up(do, self._between, self._slope)

    def _differentiate(self, do: Program) -> None:
        backward = _aten._log_softmax_backward_data.out
        do(backward, self._slope, self._between, 1, self._dtype, out=self._scores)


class _OfColumns(Loss):
    """A loss that is a mean over all labels or numbers, except missing ones (NaN)."""

    def _prepare(self, own: Tensor) -> None:
        wanted = self._y.view(len(self._y), -1).t().to(self._dtype)  # (C, r)
        known = own * ~wanted.isnan()
        self._shares = (known / known.sum((1, 2), keepdim=True)).contiguous()
        self._wanted = wanted.nan_to_num().expand_as(self._shares).contiguous()


class BinaryCrossEntropy(_OfColumns):
    r"""The cross-entropy of labels, :math:`\log(1 + e^s) - y s` for a score :math:`s`."""

    def _compare(self, do: Program) -> None:
        part = do.scratch("product of labels", *self._scores.shape)
        do(torch.mul, self._scores, self._wanted, out=part)
        do(_aten.softplus.out, self._scores, 1, 700, out=self._between)  # exact up to 700
        do(self._between.sub_, part)
        self._add_up(do, self._between, self._shares)

    def _differentiate(self, do: Program) -> None:
        do(self._scores.sigmoid_)
        do(self._scores.sub_, self._wanted)
        do(self._scores.mul_, self._shares)


class SquaredError(_OfColumns):
    """The squared error of numbers."""

    def _compare(self, do: Program) -> None:
        error = do.scratch("error", *self._scores.shape)
        do(torch.sub, self._scores, self._wanted, out=error)
        do(torch.mul, error, self._shares, out=self._between)
        self._add_up(do, error, self._between)

    def _differentiate(self, do: Program) -> None:
        do(torch.mul, self._between, 2, out=self._scores)


#: The losses by the kind of their targets.
LOSSES: dict[Kind, type[Loss]] = {
    "classes": CrossEntropy,
    "labels": BinaryCrossEntropy,
    "numbers": SquaredError,
}
