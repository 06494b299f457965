r"""Squared differences of features along edges, weighted as each Laplacian in use weighs them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from graphsct.graph import Graph, kernels
from graphsct.smoothness.features import rough_part

__all__ = ["LAPLACIANS", "walk_energy"]

#: The inner product of two ``(n, d)`` matrices, as a whole or of each column.
Inner = Callable[[Tensor, Tensor], Tensor]
# Rows with more entries than this are long.
_LONG = 1 << 12


def _symmetric(x: Tensor, graph: Graph, inner: Inner) -> Tensor:
    graph.check_edges()
    # The smooth part has no energy, and its rounding errors would hide the energy of the rest.
    rough = rough_part(x, graph)
    return inner(rough, rough) - _form(rough, graph.matrix, rough, inner)


def _combinatorial(x: Tensor, graph: Graph, inner: Inner) -> Tensor:
    return _symmetric(x * graph.degree.sqrt().unsqueeze(1), graph, inner)


def _random_walk(x: Tensor, graph: Graph, inner: Inner) -> Tensor:
    return walk_energy(x, graph, graph.entry_weights, inner)


def walk_energy(x: Tensor, graph: Graph, weight: Tensor, inner: Inner) -> Tensor:
    r"""The squared differences of one step of a random walk, :math:`\frac{1}{2} \sum_{ij}
    \frac{w_{ij}}{\sum_k w_{ik}} \|\mathbf x_i - \mathbf x_j\|^2`.

    Args:
        x: shape: ``(n, d)``
        graph: the graph
        weight: symmetric weights of the entries of ``graph.matrix``; shape: ``(num_entries,)``
        inner: the inner product of two ``(n, d)`` matrices, as a whole or of each column
    """
    graph.check_edges()
    # Differences remain without the constant of each component, and rounding errors do not.
    root = graph.degree.sqrt().unsqueeze(1)
    x = rough_part(x * root, graph) / root
    starts, columns = graph.matrix.crow_indices(), graph.matrix.col_indices()
    matrix = torch.sparse_csr_tensor(
        starts, columns, weight, size=graph.matrix.shape, check_invariants=False
    )
    exact = matrix.double()  # sums over the many neighbours of a hub, of one column each
    total = kernels.propagate(exact, torch.ones_like(root, dtype=torch.float64))
    leave = torch.where(total > 0, 1 / total, 0)
    arrive = kernels.propagate(exact, leave)
    both, leave = (leave * total + arrive).to(x.dtype), leave.to(x.dtype)
    return inner(x, both * x) / 2 - _form(leave * x, matrix, x, inner)


def _form(x: Tensor, matrix: Tensor, y: Tensor, inner: Inner) -> Tensor:
    r""":math:`\langle \mathbf X, \mathbf S \mathbf Y \rangle` with a symmetric matrix.

    A product adds up a row in the precision of the features, and errors grow with the number of
    entries. So the long rows of hubs are never added up: each of their entries is also one of a
    short row.
    """
    hub = (matrix.crow_indices().diff() > _LONG).unsqueeze(1)
    if not bool(hub.any()):
        return inner(x, kernels.propagate(matrix, y))
    x_hub, y_hub = torch.where(hub, x, 0), torch.where(hub, y, 0)
    from_others = inner(x - x_hub, kernels.propagate(matrix, y))
    to_others = inner(y - y_hub, kernels.propagate(matrix, x_hub))
    return from_others + to_others + inner(x_hub, kernels.propagate(matrix, y_hub))


#: The energy of features by the name of a Laplacian, given features, graph and inner product.
LAPLACIANS: dict[str, Callable[[Tensor, Graph, Inner], Tensor]] = {
    "symmetric": _symmetric,
    "random_walk": _random_walk,
    "combinatorial": _combinatorial,
}
