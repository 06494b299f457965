"""The ``Data`` that every data set becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from torch_geometric.data import Data

from graphsct.graph import Graph
from graphsct.graph.cache import current_graph, keep_graph, kept_graph

__all__ = ["GraphData"]


class GraphData(Data):  # type: ignore[misc]
    """A PyTorch Geometric ``Data`` whose :attr:`graph` follows its edges.

    Edit the edges in any way PyTorch Geometric has: assign them, change them in place, apply a
    transform. A graph that is assigned is used as long as it has the edges of the data.
    """

    @property
    def graph(self) -> Graph:
        """The graph of ``edge_index`` and ``edge_weight``, in the precision of the features."""
        carried = self._store.get("graph")
        if carried is None and self.edge_index is None:
            raise AttributeError("the data have neither a graph nor an edge_index")
        return current_graph(self, carried)

    def __delattr__(self, key: str) -> None:
        if key != "graph" or key in self._store:  # one that was never assigned is derived
            super().__delattr__(key)

    def clone(self, *args: str) -> Self:
        """Copy the tensors; the graph, which never changes, is shared until the edges change."""
        return self._with_graph(super().clone, *args)

    def to(self, device: Any, *args: str, **kwargs: Any) -> Self:
        """Move to a device, and move the graph instead of building it again."""
        return self._with_graph(super().to, device, *args, **kwargs)

    def _with_graph(self, copy: Callable[..., Self], *args: Any, **kwargs: Any) -> Self:
        """Copy or move the data, whose edges stay equal, and keep their graph."""
        graph = None if self.edge_index is None else kept_graph(self)
        other = copy(*args, **kwargs)
        if graph is not None:
            keep_graph(other, graph)
        return other
