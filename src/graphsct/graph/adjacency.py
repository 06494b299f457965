"""The symmetric adjacency with self-loops, built from checked edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from graphsct.errors import DirectedGraphError, GraphError
from graphsct.graph.pattern import MOST_NODES, build_pattern
from graphsct.graph.threads import in_two_threads

__all__ = ["Adjacency", "build_adjacency"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Adjacency:
    r"""The augmented adjacency :math:`\tilde{\mathbf A}`, exact, before any normalisation.

    Args:
        starts: CSR row pointers; shape: ``(n + 1,)``
        columns: CSR column indices; shape: ``(nnz,)``
        weight: CSR values, ``None`` if all are one; shape: ``(nnz,)``
        degree: augmented degrees in float64; shape: ``(n,)``
        component: component of each node, numbered by their first nodes; shape: ``(n,)``
        volume: sum of the degrees of each component of the whole graph in float64; shape: ``(m,)``
        whole: number of nodes of the whole graph, of which this may be a sample
    """

    starts: Tensor
    columns: Tensor
    weight: Tensor | None
    degree: Tensor
    component: Tensor
    volume: Tensor
    whole: int

    def row_sums(self) -> Tensor:
        """Sums of the stored entries of each row in float64; shape: ``(n,)``."""
        if self.weight is None:
            return self.starts.diff().double()
        return torch.segment_reduce(self.weight.double(), "sum", offsets=self.starts.long())

    def equals(self, other: Adjacency) -> bool:
        """Whether both have the same edges with the same weights."""
        if self is other:
            return True
        if self.weight is None or other.weight is None:
            weights = self.weight is other.weight
        else:
            weights = torch.equal(self.weight.double(), other.weight.double())
        same = torch.equal(self.starts, other.starts) and torch.equal(self.columns, other.columns)
        return same and weights

    def contains(self, other: Adjacency) -> bool:
        """Whether the edges of another adjacency, of as many nodes, are among these."""
        return bool(torch.isin(other.keys(), self.keys(), assume_unique=True).all())

    def keys(self) -> Tensor:
        """A number for each entry, by its row and column; shape: ``(nnz,)``."""
        n = len(self.degree)
        row = torch.arange(n).repeat_interleave(self.starts.diff())
        return n * row + self.columns


def build_adjacency(
    edge_index: Any, *, num_nodes: Any, edge_weight: Any, symmetrize: bool
) -> Adjacency:
    """Check the edges, add the missing self-loops and find the connected components."""
    ids = _check_ids(edge_index)
    num_nodes = _check_num_nodes(num_nodes, ids)
    weight = None if edge_weight is None else _check_weight(edge_weight, ids.shape[1])
    try:
        if weight is None:
            starts, columns = build_pattern(ids, num_nodes, symmetrize=symmetrize)
            degree = torch.from_numpy(np.diff(starts).astype(np.float64))
            values = None
        else:
            matrix = _weighted(ids, num_nodes, weight, symmetrize=symmetrize)
            starts, columns, values = matrix.indptr, matrix.indices, torch.from_numpy(matrix.data)
            degree = _weighted_degree(matrix)
    except MemoryError:
        raise GraphError(
            f"a graph of num_nodes={num_nodes} with {ids.shape[1]} edge entries does not fit into "
            "memory; relabel the ids to 0 .. n-1, or partition the graph"
        ) from None
    component = torch.from_numpy(_components(starts, columns))
    volume = torch.zeros(int(component.max()) + 1, dtype=torch.float64)
    return Adjacency(
        starts=torch.from_numpy(starts),
        columns=torch.from_numpy(columns),
        weight=values,
        degree=degree,
        component=component,
        volume=volume.index_add_(0, component, degree),
        whole=num_nodes,
    )


def _check_ids(edge_index: Any) -> Array:
    ids = _as_tensor(edge_index, "edge_index")
    if ids.dim() != 2 or ids.shape[0] != 2:
        hint = "; transpose it: edge_index.t()" if ids.dim() == 2 and ids.shape[1] == 2 else ""
        raise GraphError(f"edge_index has shape {tuple(ids.shape)}, expected (2, num_edges){hint}")
    integral = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
    if ids.numel() and not integral:
        raise GraphError(
            f"edge_index holds {ids.dtype}, node ids are integers; pass edge_index.long()"
        )
    ids = ids.long()
    if ids.numel() and int(ids.min()) < 0:
        raise GraphError(
            f"edge_index holds the negative id {int(ids.min())}; ids run from 0 to num_nodes-1"
        )
    return ids.numpy()


def _check_num_nodes(given: Any, ids: Array) -> int:
    entries = ids.shape[1]
    largest = int(ids.max()) if entries else -1
    if given is None:
        num_nodes = largest + 1
        if num_nodes > max(1_000_000, 16 * entries):
            raise GraphError(
                f"the largest id is {largest} but there are only {entries} edge entries, so nearly "
                "all nodes would be isolated; relabel the ids, or pass num_nodes to confirm"
            )
    elif isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise GraphError(f"num_nodes is {given!r}, expected an integer")
    else:
        num_nodes = int(given)
    if num_nodes < 1:
        raise GraphError(
            f"the graph is empty (num_nodes is {num_nodes}, {entries} edge entries); "
            "it needs at least one node"
        )
    if num_nodes > MOST_NODES:
        raise GraphError(
            f"num_nodes is {num_nodes}, but a graph holds at most {MOST_NODES} nodes; relabel the "
            "ids to 0 .. n-1, or partition the graph"
        )
    if largest >= num_nodes:
        raise GraphError(
            f"edge_index holds the id {largest} but num_nodes is {num_nodes}; "
            f"ids run from 0 to {num_nodes - 1}: pass num_nodes={largest + 1} or more"
        )
    if not entries and num_nodes > 1:
        raise GraphError(
            f"the graph has {num_nodes} nodes and no edges at all, which is rarely meant; if it "
            "is, say so with self-loops: edge_index=torch.arange(num_nodes).repeat(2, 1)"
        )
    return num_nodes


def _check_weight(edge_weight: Any, entries: int) -> Array:
    weight = _as_tensor(edge_weight, "edge_weight")
    if weight.requires_grad:
        raise GraphError(
            "edge_weight requires a gradient, but a Graph is a constant; pass edge_weight.detach()"
        )
    if weight.is_complex() or weight.dtype == torch.bool:
        raise GraphError(f"edge_weight holds {weight.dtype}, expected positive real numbers")
    if weight.shape != (entries,):
        raise GraphError(
            f"edge_weight has shape {tuple(weight.shape)}, expected ({entries},): one per column "
            "of edge_index"
        )
    if weight.dtype not in (torch.float32, torch.float64):
        weight = weight.to(torch.get_default_dtype())
    bad = ~((weight > 0) & torch.isfinite(weight))
    if bool(bad.any()):
        entry = int(bad.nonzero()[0])
        raise GraphError(
            f"edge_weight[{entry}] is {weight[entry].item()}; weights must be positive and finite: "
            "drop or repair these edges"
        )
    return weight.numpy()


def _as_tensor(value: Any, name: str) -> Tensor:
    """A strided tensor on the CPU; one that requires a gradient still does."""
    try:
        tensor = torch.as_tensor(value)
        tensor = tensor if tensor.layout != torch.strided else tensor.cpu()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            f"{name} is a {type(value).__name__} that is not a tensor: {error}"
        ) from error
    if tensor.layout != torch.strided:
        raise GraphError(
            f"{name} has layout {tensor.layout}; for a sparse matrix use Graph.from_scipy, or pass "
            "its coordinates and values"
        )
    return tensor


def _weighted(ids: Array, num_nodes: int, weight: Array, *, symmetrize: bool) -> csr_array:
    """Augmented adjacency in canonical CSR; a node with a self-loop gets no second one."""
    row, col = ids
    alone = np.ones(num_nodes, dtype=bool)
    alone[row[row == col]] = False
    loops = np.flatnonzero(alone)
    index_type = np.int32 if max(num_nodes, len(row) + len(loops)) < 2**31 else np.int64
    row = np.concatenate([row, loops], dtype=index_type, casting="unsafe")
    col = np.concatenate([col, loops], dtype=index_type, casting="unsafe")
    value = np.concatenate([weight, np.ones(len(loops), dtype=weight.dtype)])
    entries = coo_array((value, (row, col)), shape=(num_nodes, num_nodes))
    ways = [entries.tocsr, entries.tocsc]
    matrix, back = in_two_threads(lambda convert: convert(), ways, edges=len(row))
    transpose = back.T
    same_edges = np.array_equal(matrix.indptr, transpose.indptr) and np.array_equal(
        matrix.indices, transpose.indices
    )
    if same_edges and np.array_equal(matrix.data, transpose.data):
        return matrix
    if symmetrize:
        return matrix.maximum(transpose).tocsr()
    if not same_edges:
        build_pattern(ids, num_nodes, symmetrize=False)  # names the edge without a reverse
    # Sums of duplicates may differ in the last digits between the two directions.
    tolerance = 16 * np.finfo(matrix.data.dtype).eps
    differ = ~np.isclose(matrix.data, transpose.data, rtol=tolerance, atol=0)
    if differ.any():
        entry = int(np.flatnonzero(differ)[0])
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        edge = row, int(matrix.indices[entry])
        raise DirectedGraphError(
            f"the graph is directed: {int(differ.sum()) // 2} edges have another weight than their "
            f"reverse, the first is {row} -> {edge[1]} with {matrix.data[entry]} "
            f"against {transpose.data[entry]}; pass symmetrize=True to take the larger",
            edge,
        )
    return matrix.maximum(transpose).tocsr()


def _weighted_degree(matrix: csr_array) -> Tensor:
    with np.errstate(over="ignore"):
        degree = torch.from_numpy(matrix.sum(axis=1, dtype=np.float64))
    if not bool(torch.isfinite(degree.sum())):
        raise GraphError(
            f"the weights add up to {degree.sum().item()}, the largest at one node to "
            f"{degree.max().item()}; scale edge_weight down, for instance by edge_weight.max()"
        )
    return degree


def _components(starts: Array, columns: Array) -> Array:
    """The component of each node, numbered by their first nodes.

    Trees join each node to its smallest neighbour, then the largest neighbours join most trees.
    A pass over all edges finds the groups that are still apart and have an edge between them.
    """
    n = len(starts) - 1
    group = columns[starts[:-1]]
    while not np.array_equal(higher := group[group], group):
        group = higher
    group = _join(group, group, group[columns[starts[1:] - 1]])
    if not group.any():  # one component is left
        return np.zeros(n, dtype=np.int64)
    ends = torch.from_numpy(group).index_select(0, torch.from_numpy(columns)).numpy()
    group = _join(group, np.repeat(group, np.diff(starts)), ends)
    first = np.full(n, n)
    first[group[::-1]] = np.arange(n)[::-1]  # the last to be written is the first node
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(n)
    ordered: Array = rank[group]
    return ordered


def _join(group: Array, here: Array, there: Array) -> Array:
    """Join groups of nodes by edges between them, from each of ``here`` to that of ``there``."""
    apart = here != there
    if not apart.any():
        return group
    pairs = here[apart], there[apart]
    size = 1 + int(group.max())
    edges = csr_array((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=(size, size))
    joined: Array = connected_components(edges, directed=False)[1][group]
    return joined
