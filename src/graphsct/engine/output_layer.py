r"""The last linear layer of k runs, their loss with its gradient, and their accuracies.

Scores are kept class by class, ``(k, C, r)``: along the nodes the processor's wide registers are
full, along a handful of classes they are not, which makes softmax ten times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.engine.calls import Calls, apart
from graphsct.engine.weights import Stack

__all__ = ["Head"]

_aten = torch.ops.aten


class Head:
    """Scores of the nodes of some rows.

    Args:
        stack: the weights of k runs
        y: labels of all nodes; shape: ``(n,)``
        rows: the nodes that are looked at; shape: ``(r,)``
        splits: of each run
        part: of the split that the loss is of, ``train`` or ``val``
    """

    def __init__(
        self, stack: Stack, y: Tensor, rows: Tensor, splits: Sequence[Split], part: str
    ) -> None:
        self.weight, self.weight_grad = stack.value["output.weight"], stack.grad["output.weight"]
        self.bias, self.bias_grad = stack.value["output.bias"], stack.grad["output.bias"]
        self.y = y[rows]
        dtype, classes = self.bias.dtype, self.bias.shape[1]
        self.parts = torch.stack(  # of the split, (k, 2, r)
            [torch.stack([split.train[rows], split.val[rows]]) for split in splits]
        ).to(dtype)
        shares = torch.stack([getattr(split, part)[rows] for split in splits]).to(dtype)
        shares /= shares.sum(1, keepdim=True)
        one_hot = torch.nn.functional.one_hot(self.y, classes).t().to(dtype)
        # Of the loss in the logarithms, (k, C, r)
        self.slope = (-one_hot * shares.unsqueeze(1)).contiguous()

    def forward(self, do: Calls, x: Tensor, scale: float, loss: Tensor) -> None:
        """Write the negative log-likelihood.

        Args:
            do: where to add the calls
            x: features, to be multiplied by ``scale``; shape: ``(r, k d)``
            scale: of dropout
            loss: where to write; shape: ``(k,)``
        """
        k, classes, r = self.slope.shape
        self.x, self.scale = apart(x, k), scale
        self.scores, self.logs = do.make(k, classes, r), do.make(k, classes, r)
        left, right = self.weight.transpose(1, 2), self.x.transpose(1, 2)
        if k == 1:
            bias, out = self.bias[0].unsqueeze(1), self.scores[0]
            do(torch.addmm, bias, left[0], right[0], alpha=scale, out=out)
        else:
            bias, out = self.bias.unsqueeze(2), self.scores
            do(torch.baddbmm, bias, left, right, alpha=scale, out=out)
        do(_aten._log_softmax.out, self.scores, 1, False, out=self.logs)
        total = do.scratch("loss", k, 1, 1)
        do(torch.bmm, self.logs.view(k, 1, -1), self.slope.view(k, -1, 1), out=total)
        do(loss.copy_, total.view(k))

    def backward(self, do: Calls, dx: Tensor) -> None:
        """Gradient of the features, and of the weights; shape of ``dx``: ``(r, k d)``."""
        k, scale = len(self.bias), self.scale
        dscores = do.scratch("scores", *self.scores.shape)
        backward = _aten._log_softmax_backward_data.out
        do(backward, self.slope, self.logs, 1, self.slope.dtype, out=dscores)
        do(torch.sum, dscores, dim=2, out=self.bias_grad)
        left, right = dscores.transpose(1, 2), self.weight.transpose(1, 2)
        x, dx, grad = self.x.transpose(1, 2), apart(dx, k), self.weight_grad
        if k == 1:
            do(torch.addmm, grad[0], x[0], left[0], beta=0, alpha=scale, out=grad[0])
            do(torch.addmm, dx[0], left[0], right[0], beta=0, alpha=scale, out=dx[0])
        else:
            do(torch.baddbmm, grad, x, left, beta=0, alpha=scale, out=grad)
            do(torch.baddbmm, dx, left, right, beta=0, alpha=scale, out=dx)

    def count(self, do: Calls, accuracy: Tensor) -> None:
        """Write the shares of training and validation nodes that are right; ``(k, 2)``."""
        k, _, r = self.scores.shape
        best, guess = do.make(k, r), torch.empty(k, r, dtype=torch.long)
        do(torch.max, self.scores, 1, out=(best, guess))
        do(torch.eq, guess, self.y, out=best)
        right = do.scratch("right", k, 2, 1)
        do(torch.bmm, self.parts, best.unsqueeze(2), out=right)  # whole numbers, so exact
        do(torch.div, right[:, :, 0], self.parts.sum(2).double(), out=accuracy)
