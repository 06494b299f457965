r"""The hot kernels, on plain tensors, each with its gradient.

All of them are linear maps or norms, so each gradient is another call of the same kernels. They are
differentiable any number of times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from graphsct.graph.autocast import suspended

__all__ = [
    "MANY_NODES",
    "Averaging",
    "Membership",
    "addmm_of",
    "column_norm",
    "gram",
    "inner",
    "pool",
    "propagate",
    "reweigh",
    "unpool",
]

#: Rows of features that fit into no cache.
MANY_NODES = 1 << 16
#: Columns, and terms of all sums, from which the kernel of embeddings is the faster one.
_WIDE, _MANY_TERMS = 48, 1 << 17
_BLOCK_BYTES = 1 << 21

_BLOCK_ELEMENTS = 1 << 20
# A sum of few terms rounds little in float32; these sums are added in float64: those of a connected
# graph by blocks of dense products, those of several components piece by piece.
_BLOCK_TERMS, _TERMS = 64, 16
_PIECE_NODES = 1 << 17
_GRAM_ROWS = 1 << 10


def addmm_of(matrix: Tensor, x: Tensor) -> Callable[..., Tensor]:
    """The fastest function for products of a sparse CSR matrix and features of these shapes; it
    takes and returns what :func:`torch.addmm` does, with ``out``.
    """
    single, width = matrix.dtype == torch.float32 and matrix.device.type == "cpu", x.shape[1]
    wide = width >= _WIDE and len(matrix.values()) * width >= _MANY_TERMS
    return _Product(matrix, width) if single and (wide or len(x) >= MANY_NODES) else torch.addmm


class _Product:
    """A product as sums of weighted rows, by the kernel of embeddings, which fetches the rows of
    the features ahead of time. It returns a new array, so a block of rows at a time stays in the
    cache.

    Args:
        matrix: sparse CSR; shape: ``(r, c)``
        width: number of columns of the features
    """

    def __init__(self, matrix: Tensor, width: int) -> None:
        starts, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
        rows = max(1, _BLOCK_BYTES // (4 * max(1, width)))
        self._blocks = []
        for row in range(0, matrix.shape[0], rows):
            own = starts[row : row + rows + 1]
            first, last = int(own[0]), int(own[-1])
            block = slice(row, row + rows)
            self._blocks.append((block, own - first, columns[first:last], values[first:last]))

    def __call__(
        self,
        start: Tensor,
        matrix: Tensor,
        x: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
        out: Tensor,
        rectify: bool = False,
    ) -> Tensor:
        """What :func:`torch.addmm` does, perhaps with ReLU of a product alone."""
        x = x.contiguous()
        for block, starts, columns, values in self._blocks:
            sums = torch.embedding_bag(x, columns, starts, False, 0, False, values, True)[0]
            if beta:
                torch.add(sums.mul_(alpha), start[block], alpha=beta, out=out[block])
            elif rectify:
                torch.clamp_min(sums if alpha == 1 else sums.mul_(alpha), 0, out=out[block])
            else:
                torch.mul(sums, alpha, out=out[block])
        return out


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        out = x.new_empty(matrix.shape[0], x.shape[1])
        # Written in place: `matrix @ x` would first fill a second array with zeros.
        return addmm_of(matrix, x)(out, matrix, x, beta=0, out=out)

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
class _Piece:
    """A run of the nodes, sorted by component, and how to add them up within each component.

    Args:
        short: the basis, with a row for each sum of a few nodes; sparse CSR, shape: ``(k, n)``
        joined: which of these sums belong to which component, ``None`` if each is a component of
            its own; CSR in float64, shape: ``(c, k)``
        components: the c components in question
    """

    short: Tensor
    joined: Tensor | None
    components: slice

    def add_up(self, x: Tensor) -> Tensor:
        """The sum over each component; shapes: ``(n, d) -> (c, d)``."""
        sums = self.short @ x
        return sums if self.joined is None else self.joined @ sums.double()

    def to(self, device: torch.device) -> _Piece:
        joined = None if self.joined is None else self.joined.to(device)
        return _Piece(self.short.to(device), joined, self.components)


@dataclass(frozen=True)
class Averaging:
    """Weighted sums over each component, without gradients.

    Args:
        nodes: those of one component after the other; shape: ``(n,)``
        starts: where each component begins in ``nodes``, and their end; shape: ``(m + 1,)``
        shares: the weights, in the order of ``nodes``; shape: ``(n,)``
    """

    nodes: Tensor
    starts: Tensor
    shares: Tensor

    @classmethod
    def build(cls, shares: Tensor, component: Tensor, num_components: int) -> Averaging:
        """The sums with a weight for each node; shapes: ``(n,), (n,)``."""
        nodes = torch.argsort(component, stable=True)
        sizes = torch.bincount(component, minlength=num_components)
        starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        return cls(nodes.int(), starts.int(), shares[nodes])

    def __call__(self, x: Tensor) -> Tensor:
        """The sums, by the kernel of embeddings, which takes half the time of a sparse product;
        shapes: ``(n, d) -> (m, d)``.
        """
        if len(self.starts) == 2:
            return torch.mm(self.shares.unsqueeze(0), x, out=x.new_empty(1, x.shape[1]))
        rest = self.starts, False, 0, False, self.shares, True
        return torch.embedding_bag(x, self.nodes, *rest)[0]


@dataclass(frozen=True)
class Membership:
    r"""The basis :math:`\mathbf Q \in \mathbb R^{n \times m}`, one non-zero per row, as vectors.

    Args:
        basis: the one non-zero of each row; shape: ``(n,)``
        component: its column; shape: ``(n,)``
        num_components: the number of columns, m
        pieces: :math:`\mathbf Q^\top`, piece by piece; none if it has one column
    """

    basis: Tensor
    component: Tensor
    num_components: int
    pieces: tuple[_Piece, ...]

    @classmethod
    def build(cls, basis: Tensor, component: Tensor, num_components: int) -> Membership:
        """Sort the nodes by component once, so that pooling is a few sparse products."""
        if num_components == 1:
            return cls(basis, component, 1, ())
        order = torch.argsort(component, stable=True)
        size = torch.bincount(component, minlength=num_components)
        place = torch.arange(len(order), device=order.device)
        place -= (size.cumsum(0) - size).repeat_interleave(size)
        starts = (place % _TERMS == 0).nonzero().squeeze(1)
        owner = component[order[starts]]
        starts = torch.cat([starts, size.sum(0, keepdim=True)])
        pieces = []
        for first, last in pairwise(_cuts(starts)):
            nodes, own = order[starts[first] : starts[last]], owner[first:last]
            short = _csr(starts[first : last + 1].diff(), nodes, basis[nodes], len(basis))
            here = slice(int(own[0]), int(own[-1]) + 1)
            pieces.append(_Piece(short, _joined(own - here.start), here))
        return cls(basis, component, num_components, tuple(pieces))

    def to(self, device: torch.device) -> Membership:
        """The same basis on another device."""
        pieces = tuple(piece.to(device) for piece in self.pieces)
        return Membership(
            self.basis.to(device), self.component.to(device), self.num_components, pieces
        )


def _cuts(starts: Tensor) -> list[int]:
    """Where each piece begins, and the last ends."""
    nodes = torch.arange(0, int(starts[-1]), _PIECE_NODES, device=starts.device)
    cuts = torch.searchsorted(starts, nodes).tolist()
    return sorted({*cuts, len(starts) - 1})


def _joined(owner: Tensor) -> Tensor | None:
    """Which sums belong to which component, from the component of each."""
    counts = torch.bincount(owner)
    if bool((counts == 1).all()):
        return None
    ones = torch.ones_like(owner, dtype=torch.float64)
    return _csr(counts, torch.arange(len(owner), device=owner.device), ones, len(owner))


def _csr(counts: Tensor, columns: Tensor, values: Tensor, width: int) -> Tensor:
    """A sparse matrix with so many entries in each row."""
    index_type = torch.int32 if max(len(columns), width) < 2**31 else torch.int64
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return torch.sparse_csr_tensor(
        starts.to(index_type),
        columns.to(index_type),
        values,
        size=(len(counts), width),
        check_invariants=False,
    )


def _add_up(weight: Tensor, x: Tensor) -> Tensor:
    """The sum of all rows times their weights; shapes: ``(n,), (n, d) -> (1, d)``."""
    count = len(x) // _BLOCK_TERMS
    whole = count * _BLOCK_TERMS
    total = weight[whole:].unsqueeze(0) @ x[whole:]
    if count:
        blocks = x[:whole].reshape(count, _BLOCK_TERMS, x.shape[1])
        sums = torch.bmm(weight[:whole].view(count, 1, _BLOCK_TERMS), blocks)
        total = sums.sum(0, dtype=torch.float64).add_(total).to(x.dtype)
    return total


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Membership, x: Tensor) -> Tensor:
        ctx.q = q
        if q.num_components == 1:
            return _add_up(q.basis, x)
        out = x.new_zeros(q.num_components, x.shape[1])
        end, carried = 0, x.new_zeros(())
        for piece in q.pieces:
            total = piece.add_up(x)
            if piece.components.start < end:  # its first component began in the piece before
                total[0] += carried
            out[piece.components] = total
            end, carried = piece.components.stop, total[-1]
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, unpool(ctx.q, grads[0])


class _Unpool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Membership, a: Tensor) -> Tensor:
        ctx.q = q
        if q.num_components == 1:
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
        if len(x) and bool(unsafe.any()):
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


class _Gram(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dtype: torch.dtype) -> Tensor:
        ctx.save_for_backward(x)
        total = x.new_zeros(x.shape[1], x.shape[1], dtype=torch.float64)
        for rows in torch.split(x, _GRAM_ROWS):
            block = rows.to(dtype)
            total += block.t() @ block
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return x @ (grads[0] + grads[0].t()).to(x.dtype), None


def gram(x: Tensor, dtype: torch.dtype) -> Tensor:
    r""":math:`\mathbf X^\top \mathbf X`, added up in float64; shapes: ``(n, d) -> (d, d)``.

    Args:
        x: shape: ``(n, d)``
        dtype: the precision of each product
    """
    return _Gram.apply(x, dtype)  # type: ignore[no-any-return, no-untyped-call]


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
