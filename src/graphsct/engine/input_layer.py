r"""The first layer of k runs, :math:`\mathbf X \mathbf W + \mathbf b`, with dropout of features.

Bags of words stay sparse. As each run drops other words, the k matrices are the blocks on the
diagonal of one sparse matrix, whose values alone change from epoch to epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.calls import Calls, apart
from graphsct.engine.masking import Masking
from graphsct.engine.weights import Stack

__all__ = ["DenseInput", "SparseInput"]


class SparseInput:
    """For features in sparse CSR.

    Args:
        x: features; shape: ``(n, f)``
        stack: the weights of k runs
        masking: dropout of each run
    """

    def __init__(self, x: Tensor, stack: Stack, masking: Masking) -> None:
        weight = stack.value["input.weight"]
        k, f, d = weight.shape
        n, self.entries = x.shape[0], len(x.values())
        self.weight = weight.view(k * f, d)
        self.weight_grad = stack.grad["input.weight"].view(k * f, d)
        self.bias, self.bias_grad = stack.value["input.bias"], stack.grad["input.bias"]
        self.masking = masking
        starts, columns = x.crow_indices().long(), x.col_indices().long()
        order = torch.argsort(columns, stable=True)  # of the transpose
        rows = torch.arange(n).repeat_interleave(starts.diff())
        back_starts = starts.new_zeros(f + 1)
        torch.cumsum(torch.bincount(columns, minlength=f), 0, out=back_starts[1:])
        self.values = x.values().repeat(k)
        self.full = self.values.clone()
        self.order = _repeat(order, k, self.entries)
        self.back_values = self.full[self.order]
        self.clean, self.dropped = (
            _blocks(starts, columns, values, k, (n, f)) for values in (self.full, self.values)
        )
        self.back = _blocks(back_starts, rows[order], self.back_values, k, (f, n))
        self.product = weight.new_empty(k * n, d)

    def forward(self, do: Calls, words: Sequence[Tensor] | None, out: Tensor) -> None:
        """Write the features.

        Args:
            do: where to add the calls
            words: for dropout, if there is to be any; of each run
            out: where to write; shape: ``(n, k d)``
        """
        scale, matrix, k = 1.0, self.clean, len(self.bias)
        if words is not None:
            noise, values = torch.empty_like(self.full), self.values
            self.masking.numbers(do, words, noise.view(k, -1))
            self.masking.apply(do, self.full, noise, values)
            self.masking.rescale(do, values.view(k, -1))
            scale, matrix = self.masking.scale, self.dropped
        if k == 1:
            do(torch.addmm, self.bias, matrix, self.weight, alpha=scale, out=out)
            return
        product = self.product
        do(torch.addmm, product, matrix, self.weight, beta=0, alpha=scale, out=product)
        runs = product.view(k, len(out), -1)
        do(torch.add, runs, self.bias.unsqueeze(1), out=apart(out, k))

    def backward(self, do: Calls, dz: Tensor) -> None:
        """Fill the gradients; shape of ``dz``: ``(n, k d)``."""
        k, scale = len(self.bias), 1.0
        do(torch.sum, dz, dim=0, out=self.bias_grad.view(-1))
        if self.masking:
            do(torch.index_select, self.values, 0, self.order, out=self.back_values)
            scale = self.masking.scale
        if k > 1:
            do(self.product.view(k, len(dz), -1).copy_, apart(dz, k))
            dz = self.product
        grad = self.weight_grad
        do(torch.addmm, grad, self.back, dz, beta=0, alpha=scale, out=grad)


class DenseInput:
    """For dense features; the arguments are those of :class:`SparseInput`."""

    def __init__(self, x: Tensor, stack: Stack, masking: Masking) -> None:
        self.x, self.entries = x, x.numel()
        self.weight, self.weight_grad = stack.value["input.weight"], stack.grad["input.weight"]
        self.bias, self.bias_grad = stack.value["input.bias"], stack.grad["input.bias"]
        self.masking = masking
        self.seen = x.new_empty(len(self.bias), *x.shape) if masking else x.unsqueeze(0)

    def forward(self, do: Calls, words: Sequence[Tensor] | None, out: Tensor) -> None:
        """Write the features."""
        runs, seen, scales = apart(out, len(self.bias)), [self.x] * len(self.bias), None
        if words is not None:
            noise = do.scratch("input", *self.seen.shape)
            self.masking.numbers(do, words, noise)
            seen, scales = list(self.seen), self.masking.scales
            for part, dropped in zip(noise, seen, strict=True):
                self.masking.apply(do, self.x, part, dropped)
        for run, (x, z) in enumerate(zip(seen, runs, strict=True)):
            scale = scales[run] if scales else 1.0
            do(torch.addmm, self.bias[run], x, self.weight[run], alpha=scale, out=z)

    def backward(self, do: Calls, dz: Tensor) -> None:
        """Fill the gradients; shape of ``dz``: ``(n, k d)``."""
        do(torch.sum, dz, dim=0, out=self.bias_grad.view(-1))
        for run, dz_run in enumerate(apart(dz, len(self.bias))):
            grad, scale = self.weight_grad[run], self.masking.scales[run]
            x = self.seen[run if self.masking else 0].t()
            do(torch.addmm, grad, x, dz_run, beta=0, alpha=scale, out=grad)


def _repeat(numbers: Tensor, k: int, step: int) -> Tensor:
    """``numbers``, ``numbers + step``, ..., k times."""
    return (numbers + step * torch.arange(k).unsqueeze(1)).flatten()


def _blocks(starts: Tensor, columns: Tensor, values: Tensor, k: int, size: Any) -> Tensor:
    """Put k matrices of one pattern on a diagonal, whose values share memory with ``values``."""
    entries = len(columns)
    index = torch.int32 if max(k * entries, k * max(size)) < 2**31 else torch.int64
    all_starts = torch.cat([starts[:1], _repeat(starts[1:], k, entries)])
    return torch.sparse_csr_tensor(
        all_starts.to(index),
        _repeat(columns, k, size[1]).to(index),
        values,
        size=(k * size[0], k * size[1]),
        check_invariants=False,
    )
