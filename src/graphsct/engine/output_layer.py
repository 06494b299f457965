r"""The last linear layer of k runs, their loss and their accuracies.

Scores are kept class by class, ``(k, C, r)``: along the nodes the processor's wide registers are
full, along a handful of classes they are not, which makes softmax ten times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.engine.program import Program, apart
from graphsct.engine.tape import Node

__all__ = ["Loss"]

_aten = torch.ops.aten


class Loss(Node):
    """The negative log-likelihood of the labels, from the features before the last linear layer.

    Args:
        scores: the last linear layer, which it takes the place of
        y: labels of all nodes; shape: ``(n,)``
        splits: of each run
        part: the part of the split that the loss is of, ``train`` or ``val``
        loss: where to write; shape: ``(k,)``
        accuracy: where to write the shares of training and validation nodes that are right, if
            they are wanted; shape: ``(k, 2)``
    """

    def __init__(
        self,
        scores: Any,
        y: Tensor,
        splits: Sequence[Split],
        part: str,
        loss: Tensor,
        accuracy: Tensor | None = None,
    ) -> None:
        super().__init__(scores.tape, scores.inputs, scores.width)
        self.weight, self.bias = scores.matrix.weight, scores.bias
        self._loss, self._accuracy = loss, accuracy
        rows, dtype = self.tape.some, self.weight.value.dtype
        self._y = y[rows]
        self._parts = torch.stack(  # of the split, (k, 2, r)
            [torch.stack([split.train[rows], split.val[rows]]) for split in splits]
        ).to(dtype)
        shares = torch.stack([getattr(split, part)[rows] for split in splits]).to(dtype)
        shares /= shares.sum(1, keepdim=True)
        one_hot = torch.nn.functional.one_hot(self._y, self.width).t().to(dtype)
        # Of the loss in the logarithms, (k, C, r)
        self._slope = (-one_hot * shares.unsqueeze(1)).contiguous()

    def keeps(self, x: Node) -> bool:
        """For the gradient of the weight."""
        return True

    def folds_scale(self, x: Node) -> bool:
        return True

    def allocate(self, do: Program) -> None:
        self._scores, self._logs = (do.arena.take(*self._slope.shape) for _ in range(2))

    def forward(self, do: Program) -> None:
        """Write the loss, and the accuracies if they are wanted."""
        (node,), k = self.inputs, self.tape.k
        right = apart(node.head, k).transpose(1, 2)
        left, scores = self.weight.value.transpose(1, 2), self._scores
        rest = {"alpha": node.scale} if self.bias is not None else {"alpha": node.scale, "beta": 0}
        start = scores if self.bias is None else self.bias.value.unsqueeze(2)
        if k == 1:
            do(torch.addmm, start[0], left[0], right[0], **rest, out=scores[0])
        else:
            do(torch.baddbmm, start, left, right, **rest, out=scores)
        do(_aten._log_softmax.out, scores, 1, False, out=self._logs)
        total = do.scratch("loss", k, 1, 1)
        do(torch.bmm, self._logs.view(k, 1, -1), self._slope.view(k, -1, 1), out=total)
        do(self._loss.copy_, total.view(k))
        if self._accuracy is not None:
            self._count(do, self._accuracy)
        if not self.tape.training:
            for array in (self._scores, self._logs):
                do.arena.release(array)

    def _count(self, do: Program, accuracy: Tensor) -> None:
        k, _, r = self._scores.shape
        best, guess = do.scratch("best", k, r), torch.empty(k, r, dtype=torch.long)
        do(torch.max, self._scores, 1, out=(best, guess))
        do(torch.eq, guess, self._y, out=best)
        right = do.scratch("right", k, 2, 1)
        do(torch.bmm, self._parts, best.unsqueeze(2), out=right)  # whole numbers, so exact
        do(torch.div, right[:, :, 0], self._parts.sum(2).double(), out=accuracy)

    def backward(self, do: Program) -> None:
        """Gradients of the features and the weights."""
        (node,), k = self.inputs, self.tape.k
        scale, dscores = node.scale, self._scores
        backward = _aten._log_softmax_backward_data.out
        do(backward, self._slope, self._logs, 1, self._slope.dtype, out=dscores)
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
        for array in (self._scores, self._logs):
            do.arena.release(array)
