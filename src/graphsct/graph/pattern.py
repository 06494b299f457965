"""Which nodes are neighbours: the adjacency with self-loops but without weights, as sorted rows.

An edge from ``u`` to ``v`` becomes the number ``u << 32 | v``. NumPy sorts such numbers several
times as fast as SciPy sorts the rows of a matrix, and without the interpreter's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphsct.errors import DirectedGraphError
from graphsct.graph.threads import in_two_threads

__all__ = ["MOST_NODES", "build_pattern"]

Array = npt.NDArray[Any]

#: The bits of an id, and how many nodes have one.
_BITS = 32
MOST_NODES = 1 << (_BITS - 1)
#: Number of edges that stay in the cache between two steps.
_CACHED = 1 << 15


def build_pattern(ids: Array, num_nodes: int, *, symmetrize: bool) -> tuple[Array, Array]:
    """Row pointers and column indices of the edges and of all self-loops, in canonical CSR.

    Args:
        ids: both ends of each edge, which may be listed several times; shape: ``(2, num_edges)``
        num_nodes: number of nodes, at most :data:`MOST_NODES`
        symmetrize: add missing reverse edges instead of refusing a directed graph
    """
    row, col = ids
    size = len(row) + num_nodes
    index_type = np.int32 if 2 * size < 2**31 else np.int64
    keys = np.empty(2 * size, dtype=np.int64)
    there, back = keys[:size], keys[size:]
    both = [(row, col, there), (col, row, back)]
    in_two_threads(lambda ends: _write_keys(*ends), both, edges=size)
    if symmetrize:
        keys.partition(size)  # so that each thread sorts one half
    in_two_threads(np.ndarray.sort, [there, back], edges=size)
    if symmetrize:
        return _rows(keys, num_nodes, index_type)
    own, reverse = in_two_threads(
        lambda way: _rows(way, num_nodes, index_type), [there, back], edges=size
    )
    if not all(map(np.array_equal, own, reverse)):
        _refuse(there, back)
    return own


def _write_keys(row: Array, col: Array, out: Array) -> None:
    """Write the numbers of edges in one direction and of all self-loops."""
    for i in range(0, len(row), _CACHED):
        part = slice(i, min(i + _CACHED, len(row)))
        np.bitwise_or(row[part] << _BITS, col[part], out=out[part])
    loops = np.arange(len(out) - len(row))
    np.bitwise_or(loops << _BITS, loops, out=out[len(row) :])


def _rows(keys: Array, num_nodes: int, index_type: Any) -> tuple[Array, Array]:
    """CSR of sorted numbers, each counted once; there is a self-loop in every row."""
    starts = np.zeros(num_nodes + 1, dtype=index_type)
    columns = np.empty(len(keys), dtype=index_type)
    row = end = 0
    for i in range(0, len(keys), _CACHED):
        part = keys[i : i + _CACHED + 1]
        part = part if i + _CACHED < len(keys) else np.append(part, -1)  # which ends the last row
        last = np.flatnonzero(part[1:] != part[:-1])  # of equal numbers
        found, after = part[last], part[last + 1]
        columns[end : end + len(last)] = found & ((1 << _BITS) - 1)
        ends = np.flatnonzero(found >> _BITS != after >> _BITS)
        starts[row + 1 : row + 1 + len(ends)] = ends + (end + 1)
        row, end = row + len(ends), end + len(last)
    columns.resize(end, refcheck=False)  # without a copy
    return starts, columns


def _refuse(there: Array, back: Array) -> None:
    missing = np.setdiff1d(there, back)
    edge = int(missing[0]) >> _BITS, int(missing[0]) & ((1 << _BITS) - 1)
    raise DirectedGraphError(
        f"the graph is directed: {len(missing)} edges have no reverse, the first is "
        f"{edge[0]} -> {edge[1]}; pass symmetrize=True to add the reverse edges",
        edge,
    )
