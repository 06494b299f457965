r"""The first layer of k runs, :math:`\mathbf X \mathbf W + \mathbf b`, with dropout of features.

Bags of words stay sparse. As each run drops other words, the k matrices are the blocks on the
diagonal of one sparse matrix, whose values alone change from epoch to epoch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.training.masking import Masking
from graphsct.training.stack import Stack

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
        n, entries = x.shape[0], len(x.values())
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
        self.order = _repeat(order, k, entries)
        self.back_values = self.full[self.order]
        self.clean, self.dropped = (
            _blocks(starts, columns, values, k, (n, f)) for values in (self.full, self.values)
        )
        self.back = _blocks(back_starts, rows[order], self.back_values, k, (f, n))
        self.noise = torch.empty_like(self.full)
        self.product = weight.new_empty(k * n, d)

    def forward(self, *, training: bool, out: Tensor) -> Tensor:
        """Write into ``out``; shape: ``(n, k d)``."""
        self.scale, matrix = 1.0, self.clean
        if training and self.masking:
            self.scale = self.masking.draw_values(self.full, self.noise, self.values)
            matrix = self.dropped
        product = self.product
        torch.addmm(product, matrix, self.weight, beta=0, alpha=self.scale, out=product)
        runs = product.view(self.bias.shape[0], out.shape[0], -1)
        apart = out.view(out.shape[0], self.bias.shape[0], -1)
        torch.add(runs.transpose(0, 1), self.bias, out=apart)
        return out

    def backward(self, dz: Tensor) -> None:
        """Fill the gradients; shape of ``dz``: ``(n, k d)``."""
        torch.sum(dz, dim=0, out=self.bias_grad.view(-1))
        if self.masking:
            torch.index_select(self.values, 0, self.order, out=self.back_values)
        if self.bias.shape[0] > 1:
            runs = self.product.view(self.bias.shape[0], dz.shape[0], -1)
            runs.copy_(dz.view(dz.shape[0], self.bias.shape[0], -1).transpose(0, 1))
            dz = self.product
        grad = self.weight_grad
        torch.addmm(grad, self.back, dz, beta=0, alpha=self.scale, out=grad)


class DenseInput:
    """For dense features; the arguments are those of :class:`SparseInput`."""

    def __init__(self, x: Tensor, stack: Stack, masking: Masking) -> None:
        self.x = x
        self.weight, self.weight_grad = stack.value["input.weight"], stack.grad["input.weight"]
        self.bias, self.bias_grad = stack.value["input.bias"], stack.grad["input.bias"]
        self.masking = masking
        self.seen = [torch.empty_like(x) if masking else x for _ in self.bias]

    def forward(self, *, training: bool, out: Tensor) -> Tensor:
        """Write into ``out``; shape: ``(n, k d)``."""
        apart = out.view(out.shape[0], self.bias.shape[0], -1)
        for run, weight in enumerate(self.weight):
            x, scale = self.x, 1.0
            if training and self.masking:
                x = self.seen[run]
                scale = self.masking.draw_run(run, self.x, x)
            torch.addmm(self.bias[run], x, weight, alpha=scale, out=apart[:, run])
        return out

    def backward(self, dz: Tensor) -> None:
        """Fill the gradients; shape of ``dz``: ``(n, k d)``."""
        torch.sum(dz, dim=0, out=self.bias_grad.view(-1))
        apart = dz.view(dz.shape[0], self.bias.shape[0], -1)
        for run, grad in enumerate(self.weight_grad):
            scale = self.masking.scales[run] if self.masking else 1.0
            x = self.seen[run].t()
            torch.addmm(grad, x, apart[:, run], beta=0, alpha=scale, out=grad)


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
