r"""The sparse matrices that convolutions multiply by."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.program import Program
from graphsct.graph import Graph
from graphsct.graph.kernels import addmm_of

__all__ = ["Eigenspace", "Operators", "multiply_sparse", "take_rows"]


class Eigenspace:
    r"""The basis restricted to some nodes, :math:`\mathbf Q_{rows}`, and the products with it.

    Args:
        graph: the graph
        rows: which nodes; shape: ``(r,)``
    """

    def __init__(self, graph: Graph, rows: Tensor) -> None:
        basis, m = graph.basis[rows], graph.num_components
        self.matrix, self.transpose = basis.unsqueeze(1), basis.unsqueeze(0)  # dense if m is 1
        if m > 1:
            indices = torch.stack([torch.arange(len(rows)), graph.component[rows]])
            self.matrix = _csr(_coo(indices, basis, (len(rows), m)))
            self.transpose = _csr(_coo(indices.flip(0), basis, (m, len(rows))))

    def pool(
        self,
        do: Program,
        x: Tensor,
        out: Tensor,
        *,
        scale: float = 1.0,
        start: Any = None,
        v: Any = 0,
    ) -> None:
        """``out = v start + scale Q^T x``; ``(r, k d) -> (m, k d)``."""
        start = out if start is None else start
        do(torch.addmm, start, self.transpose, x, beta=v, alpha=scale, out=out)

    def add(self, do: Program, a: Tensor, x: Tensor) -> None:
        """Add the features with coordinates ``a`` to ``x`` in place; ``(m, k d) -> (r, k d)``."""
        do(torch.addmm, x, self.matrix, a, out=x)


class Operators:
    r"""The sparse matrices of a convolution at some nodes.

    With :math:`\mathbf M = g \mathbf G + u \mathbf I`, ``forward`` is :math:`\mathbf M` at these
    rows, and ``backward`` is :math:`[\mathbf M^\top \; (g + u) \mathbf Q]`, without the second part
    if there is no control.

    Args:
        graph: the graph
        rows: nodes whose output is needed, all if ``None``; shape: ``(r,)``
        columns: nodes whose features are given, in ascending order, all if ``None``; they include
            all neighbours of the rows; shape: ``(c,)``
        propagated: the number g
        kept: the number u
        control: whether the convolution has a control
    """

    def __init__(
        self,
        graph: Graph,
        rows: Tensor | None = None,
        columns: Tensor | None = None,
        *,
        propagated: float = 1.0,
        kept: float = 0.0,
        control: bool = False,
    ) -> None:
        g, u, full = propagated, kept, graph.matrix
        if (g, u) != (1.0, 0.0):
            node = torch.arange(graph.num_nodes).repeat_interleave(full.crow_indices().diff())
            loops = (node == full.col_indices()).to(graph.dtype)
            full = _with_values(full, g * full.values() + u * loops)
        self.forward = full if rows is None else take_rows(full, rows)[0]
        if columns is not None:
            self.forward = _renumber(self.forward, columns)
        symmetric = rows is columns
        back = self.forward
        if not symmetric:
            back = _csr(self.forward.to_sparse(layout=torch.sparse_coo).t())
        if control:
            back = _append(back, (g + u) * graph.basis, graph.component, graph.num_components)
        self.backward = back


def multiply_sparse(
    do: Program,
    matrix: Tensor,
    x: Tensor,
    out: Tensor,
    *,
    scale: float = 1.0,
    start: Tensor | None = None,
    v: float = 0.0,
    rectify: bool = False,
) -> None:
    """``out = v start + scale matrix x``, by the fastest kernel; with ReLU, v must be 0."""
    product, rest = addmm_of(matrix, x), {"beta": v, "alpha": scale, "out": out}
    start = out if start is None else start
    fused = rectify and product is not torch.addmm
    do(product, start, matrix, x, **rest, **({"rectify": True} if fused else {}))
    if rectify and not fused:
        do(torch.clamp_min, out, 0, out=out)


def _coo(indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, size, check_invariants=False)


def _csr(matrix: Tensor) -> Tensor:
    """A COO matrix in CSR with 32-bit indices, which are read faster."""
    matrix = matrix.coalesce().to_sparse_csr()
    index = torch.int32 if max(matrix.values().numel(), *matrix.shape) < 2**31 else torch.int64
    return torch.sparse_csr_tensor(
        matrix.crow_indices().to(index),
        matrix.col_indices().to(index),
        matrix.values(),
        size=matrix.shape,
        check_invariants=False,
    )


def _with_values(matrix: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices(),
        matrix.col_indices(),
        values,
        size=matrix.shape,
        check_invariants=False,
    )


def _renumber(matrix: Tensor, columns: Tensor) -> Tensor:
    """A matrix reduced to the listed columns; all other columns are empty."""
    places = torch.empty(matrix.shape[1], dtype=matrix.col_indices().dtype)
    places[columns] = torch.arange(len(columns), dtype=places.dtype)
    return torch.sparse_csr_tensor(
        matrix.crow_indices(),
        places[matrix.col_indices().long()],
        matrix.values(),
        size=(matrix.shape[0], len(columns)),
        check_invariants=False,
    )


def take_rows(matrix: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of a CSR matrix, and the places of their entries in its values; shapes:
    ``(n, c), (r,) -> (r, c), (entries,)``.
    """
    starts, counts = matrix.crow_indices().long(), matrix.crow_indices().diff().long()
    taken = counts[rows]
    ends = taken.cumsum(0)
    inside = torch.arange(int(ends[-1])) - (ends - taken).repeat_interleave(taken)
    place = starts[rows].repeat_interleave(taken) + inside
    own = torch.sparse_csr_tensor(
        torch.cat([ends.new_zeros(1), ends]).to(matrix.crow_indices().dtype),
        matrix.col_indices()[place],
        matrix.values()[place],
        size=(len(rows), matrix.shape[1]),
        check_invariants=False,
    )
    return own, place


def _append(matrix: Tensor, basis: Tensor, component: Tensor, m: int) -> Tensor:
    """The matrix with the columns of the basis appended."""
    n, columns = matrix.shape
    entries = matrix.to_sparse(layout=torch.sparse_coo)
    indices = torch.cat(
        [entries.indices(), torch.stack([torch.arange(n), component + columns])], dim=1
    )
    values = torch.cat([entries.values(), basis])
    return _csr(_coo(indices, values, (n, columns + m)))
