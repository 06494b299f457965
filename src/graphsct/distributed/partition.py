"""The division of nodes among processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from graphsct.errors import DataError
from graphsct.extras import require
from graphsct.graph.adjacency import Adjacency
from graphsct.names import pick

__all__ = ["METHODS", "divide"]

Owners = npt.NDArray[np.int64]


def contiguous(adjacency: Adjacency, parts: int) -> Owners:
    """Ranges of nodes with about equal numbers of edges; shape: ``(n,)``."""
    starts = adjacency.starts.numpy().astype(np.int64)
    n = len(starts) - 1
    k = np.arange(1, parts)
    cuts = np.searchsorted(starts, starts[-1] * k / parts)
    cuts = np.maximum.accumulate(np.maximum(cuts, k) - k) + k  # no part is empty
    cuts = np.minimum(cuts, n - parts + k)
    return np.searchsorted(cuts, np.arange(n), side="right")


def metis(adjacency: Adjacency, parts: int) -> Owners:
    """METIS: parts of about equal numbers of edges, with few edges between; shape: ``(n,)``."""
    pymetis: Any = require("pymetis", "metis")
    starts, columns = adjacency.starts.numpy(), adjacency.columns.numpy()
    n = len(starts) - 1
    between = columns != np.repeat(np.arange(n), np.diff(starts))  # METIS takes no self-loops
    ends = np.concatenate([[0], np.cumsum(between)])[starts]
    graph = pymetis.CSRAdjacency(ends, columns[between])
    found = pymetis.part_graph(
        parts, graph, vweights=np.diff(starts), options=pymetis.Options(seed=0)
    )
    return np.asarray(found.vertex_part, dtype=np.int64)


#: Methods by name; each gives the part of every node.
METHODS: dict[str, Callable[[Adjacency, int], Owners]] = {
    "contiguous": contiguous,
    "metis": metis,
}


def divide(adjacency: Adjacency, parts: Any, method: str = "contiguous") -> Owners:
    """The part of each node, none of them empty; shape: ``(n,)``.

    Args:
        adjacency: adjacency of the whole graph
        parts: number of parts
        method: ``contiguous``, or ``metis``, which needs the extra of that name
    """
    n = len(adjacency.degree)
    divided = pick(METHODS, method, "method of partition", DataError)
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= n:
        raise DataError(
            f"parts is {parts!r}, expected an integer from 1 to {n}, the number of nodes"
        )
    owners = divided(adjacency, parts)
    empty = np.flatnonzero(np.bincount(owners, minlength=parts) == 0)
    if len(empty):
        raise DataError(
            f"{method} left part {empty[0]} of {parts} without a node; ask for fewer parts, or use "
            "method='contiguous'"
        )
    return owners
