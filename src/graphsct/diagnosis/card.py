"""A graph in a few numbers, which may explain a model before one looks at its layers."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import torch
from torch import Tensor

from graphsct.datasets.assemble import edge_homophily
from graphsct.graph import Graph
from graphsct.records import Record

__all__ = ["GraphCard", "describe_graph"]


_KEYS = (
    "nodes",
    "edges",
    "components",
    "largest_component",
    "isolated",
    "mean_degree",
    "median_degree",
    "max_degree",
    "homophily",
    "degrees",
    "sizes",
)


@dataclass(frozen=True)
class GraphCard(Record, keys=_KEYS):
    """A graph in a few numbers. Edges are undirected, without self-loops.

    Args:
        nodes: number of nodes
        edges: number of edges
        components: number of connected components
        degrees: pairs of a degree and the number of nodes that have it
        sizes: pairs of a component size and the number of components that have it
        homophily: share of the edges that join two nodes of one class, ``None`` without labels or
            edges
    """

    nodes: int
    edges: int
    components: int
    degrees: tuple[tuple[int, int], ...]
    sizes: tuple[tuple[int, int], ...]
    homophily: float | None

    @property
    def isolated(self) -> int:
        """Number of nodes without a neighbour."""
        return dict(self.degrees).get(0, 0)

    @property
    def largest_component(self) -> int:
        """Number of nodes of the largest component."""
        return self.sizes[-1][0]

    @property
    def mean_degree(self) -> float:
        """Mean number of neighbours."""
        return 2 * self.edges / self.nodes

    @property
    def median_degree(self) -> float:
        """Median number of neighbours."""
        every = [degree for degree, count in self.degrees for _ in range(count)]
        return statistics.median(every)

    @property
    def max_degree(self) -> int:
        """Largest number of neighbours."""
        return self.degrees[-1][0]


def describe_graph(graph: Graph, y: Tensor | None = None) -> GraphCard:
    """The card of a graph.

    Args:
        graph: the graph
        y: classes of the nodes, if there are labels, -1 for a node without one; shape: ``(n,)``

    Example:
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=4)
        >>> card = describe_graph(graph, torch.tensor([0, 0, 1, 1]))
        >>> card.components, card.degrees, card.sizes, card.homophily
        (2, ((0, 1), (1, 2), (2, 1)), ((1, 1), (3, 1)), 0.5)
    """
    ends = graph.edge_index
    homophily = None
    if y is not None:
        y = y.to(ends.device)
        if bool((y[ends] >= 0).all(dim=0).any()):
            homophily = edge_homophily(ends, y)
    return GraphCard(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        components=graph.num_components,
        degrees=_count(ends[0].bincount(minlength=graph.num_nodes)),
        sizes=_count(graph.component.bincount()),
        homophily=homophily,
    )


def _count(values: Tensor) -> tuple[tuple[int, int], ...]:
    """Pairs of a value and its count, the smallest value first."""
    found, counts = torch.unique(values, return_counts=True)
    return tuple(zip(found.tolist(), counts.tolist(), strict=True))
