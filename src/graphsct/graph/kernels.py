r"""The hot kernels, on plain tensors, each with its gradient.

All of them are linear maps or norms, so each gradient is another call of the same kernels. They are
differentiable any number of times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graphsct.graph.autocast import suspended

__all__ = ["Membership", "column_norm", "inner", "pool", "propagate", "reweigh", "unpool"]

_BLOCK_ELEMENTS = 1 << 20


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        out = x.new_empty(matrix.shape[0], x.shape[1])
        # Written in place: `matrix @ x` would first fill a second array with zeros.
        return torch.addmm(out, matrix, x, beta=0, out=out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, propagate(ctx.matrix, grads[0])


def propagate(matrix: Tensor, x: Tensor) -> Tensor:
    r"""Product :math:`\mathbf G \mathbf X` with a *symmetric* sparse matrix.

    The gradient is the same product, so no transpose is needed.

    Args:
        matrix: symmetric, sparse CSR, constant; shape: ``(n, n)``
        x: shape: ``(n, d)``
    """
    return _Propagate.apply(matrix, x)  # type: ignore[no-any-return, no-untyped-call]


@dataclass(frozen=True)
class Membership:
    r"""The basis :math:`\mathbf Q \in \mathbb R^{n \times m}`, one non-zero per row, as vectors.

    Args:
        basis: the one non-zero of each row; shape: ``(n,)``
        component: its column; shape: ``(n,)``
        transpose: :math:`\mathbf Q^\top` in CSR for a compiled product, ``None`` if ``m == 1``
    """

    basis: Tensor
    component: Tensor
    transpose: Tensor | None

    @classmethod
    def build(cls, basis: Tensor, component: Tensor, num_components: int) -> Membership:
        """Sort the nodes by component once, so that pooling is one sparse product."""
        if num_components == 1:
            return cls(basis, component, None)
        order = torch.argsort(component, stable=True)
        starts = component.new_zeros(num_components + 1)
        torch.cumsum(torch.bincount(component, minlength=num_components), 0, out=starts[1:])
        index_type = torch.int32 if len(basis) < 2**31 else torch.int64
        transpose = torch.sparse_csr_tensor(
            starts.to(index_type),
            order.to(index_type),
            basis[order],
            size=(num_components, len(basis)),
            check_invariants=False,
        )
        return cls(basis, component, transpose)

    def to(self, device: torch.device) -> Membership:
        """The same basis on another device."""
        transpose = None if self.transpose is None else self.transpose.to(device)
        return Membership(self.basis.to(device), self.component.to(device), transpose)


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Membership, x: Tensor) -> Tensor:
        ctx.q = q
        if q.transpose is None:
            return (q.basis @ x).unsqueeze(0)
        return q.transpose @ x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, unpool(ctx.q, grads[0])


class _Unpool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Membership, a: Tensor) -> Tensor:
        ctx.q = q
        if q.transpose is None:
            return q.basis.unsqueeze(1) * a
        return a.index_select(0, q.component).mul_(q.basis.unsqueeze(1))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, pool(ctx.q, grads[0])


def pool(q: Membership, x: Tensor) -> Tensor:
    r""":math:`\mathbf Q^\top \mathbf X`; shapes: ``(n, d) -> (m, d)``."""
    with suspended(x.device):
        return _Pool.apply(q, x)  # type: ignore[no-any-return, no-untyped-call]


def unpool(q: Membership, a: Tensor) -> Tensor:
    r""":math:`\mathbf Q \mathbf A`; shapes: ``(m, d) -> (n, d)``."""
    return _Unpool.apply(q, a)  # type: ignore[no-any-return, no-untyped-call]


def _blocks(x: Tensor) -> tuple[Tensor, ...]:
    """Rows in blocks that fit into the cache, unlike an (n, d) temporary."""
    return torch.split(x, max(1, _BLOCK_ELEMENTS // max(1, x.shape[1])))


class _ColumnNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        square = x.new_zeros(x.shape[1], dtype=torch.float64)
        for block in _blocks(x):
            square += block.square().sum(0)
        norm = square.sqrt().to(x.dtype)
        # Squares of very small or large entries leave the range of floats, norms do not.
        edge = torch.finfo(x.dtype).tiny ** 0.25
        unsafe = ((norm < edge) | ~(norm < 1 / edge)) & (norm == norm)
        if bool(unsafe.any()):
            columns = x[:, unsafe]
            peak = columns.abs().amax(0)
            scaled = columns / torch.where(peak > 0, peak, 1)
            norm[unsafe] = peak * torch.linalg.vector_norm(scaled, dim=0)
        ctx.save_for_backward(x, norm)
        return norm

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, norm = ctx.saved_tensors
        return x * torch.where(norm > 0, grads[0] / norm, 0)


def column_norm(x: Tensor) -> Tensor:
    r""":math:`\|\mathbf x^{(j)}\|` of every column; shapes: ``(n, d) -> (d,)``.

    The gradient of a zero column is zero, the smallest of its subgradients.
    """
    return _ColumnNorm.apply(x)  # type: ignore[no-any-return, no-untyped-call]


class _Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        ctx.save_for_backward(x, y)
        total = x.new_zeros((), dtype=torch.float64)
        for a, b in zip(_blocks(x), _blocks(y), strict=True):
            total += torch.mul(a, b).sum()
        return total.to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, y = ctx.saved_tensors
        return grads[0] * y, grads[0] * x


def inner(x: Tensor, y: Tensor) -> Tensor:
    r"""Inner product :math:`\langle \mathbf X, \mathbf Y \rangle_F` of two ``(n, d)`` matrices."""
    return _Inner.apply(x, y)  # type: ignore[no-any-return, no-untyped-call]


def reweigh(matrix: Tensor, weights: Tensor, numbers: Tensor, kept: Tensor) -> Tensor:
    r"""The values of :math:`\tilde{\mathbf D}^{-1/2} (\mathbf A + \mathbf I) \tilde{\mathbf
    D}^{-1/2}` with some edges left out of A.

    Args:
        matrix: the operator with all edges, sparse CSR
        weights: of its entries before normalisation; shape: ``(num_entries,)``
        numbers: the edge of each entry, the number of edges for self-loops; shape:
            ``(num_entries,)``
        kept: whether each edge stays; shape: ``(num_edges,)``
    """
    starts, columns = matrix.crow_indices().long(), matrix.col_indices().long()
    row = torch.arange(len(starts) - 1, device=matrix.device).repeat_interleave(starts.diff())
    stays = torch.cat([kept, kept.new_ones(1)]).to(weights.dtype)
    left = weights * stays[numbers]
    degree = weights.new_zeros(len(starts) - 1).index_add_(0, row, left)
    root = degree.rsqrt()
    return left * root[row] * root[columns]
