"""The ``Data`` that every data set becomes."""

from __future__ import annotations

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

    def to(self, device: Any, *args: str, **kwargs: Any) -> Self:
        """Move to a device, and the graph with its edges, which need not be read again."""
        graph = None if self.edge_index is None else kept_graph(self)
        super().to(device, *args, **kwargs)
        if graph is not None:
            keep_graph(self, graph)
        return self
