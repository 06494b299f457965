r"""The sparse matrices that the layers of a training loop multiply by."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.engine.calls import Calls
from graphsct.graph import Graph
from graphsct.nn import EnergeticConv, GCN2Conv, GCNConv

__all__ = ["Eigenspace", "Numbers", "Operators", "read"]


class Numbers(NamedTuple):
    """Those of the formula in :mod:`graphsct.engine.layers`; those of GCN unless told."""

    g: float = 1.0
    u: float = 0.0
    v: float = 0.0
    s: float = 0.0
    b: float = 1.0


def read(conv: Any, name: str) -> tuple[Numbers, str]:
    """The numbers of the formula, and where the weight is."""
    if isinstance(conv, GCNConv):
        return Numbers(), f"{name}.lin.weight"
    if isinstance(conv, GCN2Conv):
        a, b = conv.alpha, conv.beta
        return Numbers(g=1 - a, v=a, s=1 - b, b=b), f"{name}.weight1"
    assert isinstance(conv, EnergeticConv)
    return Numbers(g=1 - conv.c_min, u=conv.c_min - conv.beta, v=conv.beta), f"{name}.weight"


class Eigenspace:
    r"""The basis restricted to some nodes, :math:`\mathbf Q_{rows}`, and both its products.

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
        do: Calls,
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

    def add(self, do: Calls, a: Tensor, x: Tensor) -> None:
        """Add the features with coordinates ``a`` to ``x`` in place; ``(m, k d) -> (r, k d)``."""
        do(torch.addmm, x, self.matrix, a, out=x)


class Operators:
    r"""What layers with the same numbers and nodes multiply by.

    ``forward`` is :math:`\mathbf M` at some rows; ``backward`` is :math:`[\mathbf M^\top \; (g + u)
    \mathbf Q]`, without the second part if there is no control.

    Args:
        graph: the graph
        numbers: of the formula
        control: whether there is one
        rows: nodes whose output is needed, all if ``None``; shape: ``(r,)``
    """

    def __init__(
        self, graph: Graph, numbers: Numbers, control: bool, rows: Tensor | None = None
    ) -> None:
        n, m = graph.num_nodes, graph.num_components if control else 0
        self.everywhere = Eigenspace(graph, torch.arange(n))
        self.here = self.everywhere if rows is None else Eigenspace(graph, rows)
        self.rows = rows
        if rows is not None:  # with those of the coordinates behind them
            self.rows = torch.cat([rows, torch.arange(n, n + m)])
        g, u = numbers.g, numbers.u
        full = graph.matrix
        if (g, u) != (1.0, 0.0):
            node = torch.arange(n).repeat_interleave(full.crow_indices().diff())
            loops = (node == full.col_indices()).to(graph.dtype)
            full = _with_values(full, g * full.values() + u * loops)
        self.forward = full if rows is None else _take_rows(full, rows)
        back = full if rows is None else _csr(self.forward.to_sparse(layout=torch.sparse_coo).t())
        if control:
            back = _append(back, (g + u) * graph.basis, graph.component, m)
        self.backward = back


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


def _take_rows(matrix: Tensor, rows: Tensor) -> Tensor:
    """Rows of a CSR matrix; shapes: ``(n, c), (r,) -> (r, c)``."""
    starts, counts = matrix.crow_indices().long(), matrix.crow_indices().diff().long()
    taken = counts[rows]
    ends = taken.cumsum(0)
    inside = torch.arange(int(ends[-1])) - (ends - taken).repeat_interleave(taken)
    place = starts[rows].repeat_interleave(taken) + inside
    return torch.sparse_csr_tensor(
        torch.cat([ends.new_zeros(1), ends]).to(matrix.crow_indices().dtype),
        matrix.col_indices()[place],
        matrix.values()[place],
        size=(len(rows), matrix.shape[1]),
        check_invariants=False,
    )


def _append(matrix: Tensor, basis: Tensor, component: Tensor, m: int) -> Tensor:
    """The matrix with the columns of the basis behind its own."""
    n, columns = matrix.shape
    entries = matrix.to_sparse(layout=torch.sparse_coo)
    indices = torch.cat(
        [entries.indices(), torch.stack([torch.arange(n), component + columns])], dim=1
    )
    values = torch.cat([entries.values(), basis])
    return _csr(_coo(indices, values, (n, columns + m)))
