"""The nodes at which an operation is computed: those that the wanted scores depend on.

The score of a node depends on the nodes around it, one hop farther for each earlier layer. So the
last layers need few nodes, and no layer needs a component without labels.
"""

from __future__ import annotations

from enum import IntEnum

import torch
from torch import Tensor

from graphsct.engine.operators import take_rows
from graphsct.graph import Graph

__all__ = ["Neighbourhood", "Rows"]

#: A set of rows gets its own operator if it is at most this share of the next larger set.
_SHARE = 0.95


class Rows(IntEnum):
    """The rows of an array. The sets of nodes contain each other, from few nodes to all."""

    SOME = 0  # the nodes whose labels are looked at
    ONE_HOP = 1
    TWO_HOPS = 2
    THREE_HOPS = 3
    REACHED = 4  # the components that have such nodes
    ALL = 5
    COMPONENTS = 6  # one for each connected component


_NODES = [rows for rows in Rows if rows < Rows.COMPONENTS]


class Neighbourhood:
    """The nodes around some nodes, in sets that contain each other.

    Args:
        graph: the graph
        some: the nodes in the middle, in ascending order; shape: ``(r,)``
    """

    def __init__(self, graph: Graph, some: Tensor) -> None:
        self._nodes: dict[Rows, Tensor | None] = {Rows.SOME: some, Rows.ALL: None}
        near = torch.zeros(graph.num_nodes, dtype=torch.bool)
        for rows in (Rows.ONE_HOP, Rows.TWO_HOPS, Rows.THREE_HOPS):
            neighbours = take_rows(graph.matrix, some)[0].col_indices()
            near[some] = near[neighbours.long()] = True
            self._nodes[rows] = some = near.nonzero()[:, 0]
        has = torch.zeros(graph.num_components, dtype=torch.bool)
        has[graph.component[some]] = True
        self._nodes[Rows.REACHED] = has[graph.component].nonzero()[:, 0]
        self._counts = {
            rows: graph.num_nodes if nodes is None else len(nodes)
            for rows, nodes in self._nodes.items()
        } | {Rows.COMPONENTS: graph.num_components}
        self._settled = {Rows.SOME: Rows.SOME, Rows.ALL: Rows.ALL}
        for rows in reversed(_NODES[1:-1]):
            wider = self._settled[Rows(rows + 1)]
            worth = self._counts[rows] <= _SHARE * self._counts[wider]
            self._settled[rows] = rows if worth else wider

    def nodes(self, rows: Rows) -> Tensor | None:
        """The nodes of these rows in ascending order, ``None`` for all; shape: ``(rows,)``."""
        return self._nodes[rows]

    def count(self, rows: Rows) -> int:
        """How many rows there are."""
        return self._counts[rows]

    def settle(self, rows: Rows) -> Rows:
        """The rows to compute instead of these: a larger set, if it is only slightly larger."""
        return self._settled[rows]

    def around(self, rows: Rows) -> Rows:
        """The rows that a product with the operator at these rows reads."""
        closed = rows in (Rows.REACHED, Rows.ALL)
        return rows if closed else self._settled[Rows(rows + 1)]
