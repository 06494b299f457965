"""The interactive page: small graphs and figure 2 to play with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from graphsct import __version__
from graphsct.graph import Graph
from graphsct.pages import render
from graphsct.paper.figures import figure2

__all__ = ["SMALL_GRAPHS", "SmallGraph", "page"]

TITLE = "Explore smoothness"

Place = tuple[float, float]


@dataclass(frozen=True)
class SmallGraph:
    """A graph that is small enough to be drawn.

    Args:
        name: its name on the page
        edges: every edge once
        places: positions of nodes, from -1 to 1, to the right and down; shape: ``(n, 2)``
        z: the initial feature; shape: ``(n,)``
    """

    name: str
    edges: tuple[tuple[int, int], ...]
    places: tuple[Place, ...]
    z: tuple[float, ...]

    @cached_property
    def graph(self) -> Graph:
        """The graph, in float64."""
        edge_index = torch.tensor(self.edges).t()
        return Graph(edge_index, len(self.places), symmetrize=True, dtype=torch.float64)

    def describe(self) -> dict[str, Any]:
        """Return the values that the page needs."""
        return {
            "name": self.name,
            "edges": self.edges,
            "places": self.places,
            "z": self.z,
            "degree": self.graph.degree.tolist(),
            "basis": self.graph.basis.tolist(),
            "component": self.graph.component.tolist(),
        }


def page(graphs: Sequence[SmallGraph]) -> str:
    """Return the page with a choice of graphs, showing the first."""
    return render(
        "explore.html",
        title=TITLE,
        version=__version__,
        graphs=[graph.describe() for graph in graphs],
        figure=_figure2(),
    )


def _figure2() -> dict[str, Any]:
    """The network of figure 2, and where its trajectories start."""
    data = figure2.trajectories()
    return {
        "operator": figure2.OPERATOR.tolist(),
        "weight": figure2.WEIGHT,
        "layers": figure2.LAYERS,
        "alphas": figure2.ALPHAS,
        "eigenvector": data.eigenvector.tolist(),
        "starts": data.h[0, :, 0].tolist(),
    }


def _ring(n: int, radius: float = 1.0) -> tuple[Place, ...]:
    """Places on a circle, clockwise from the top."""
    angles = [2 * math.pi * i / n for i in range(n)]
    return tuple((radius * math.sin(angle), -radius * math.cos(angle)) for angle in angles)


SMALL_GRAPHS = (
    SmallGraph(
        "Cycle",
        tuple((i, (i + 1) % 6) for i in range(6)),
        _ring(6),
        (1.5, 0.7, -0.6, -1.0, 0.3, 1.1),
    ),
    SmallGraph("Two nodes", ((0, 1),), ((-0.6, 0), (0.6, 0)), (1.2, -0.6)),
    SmallGraph(
        "Path",
        ((0, 1), (1, 2), (2, 3), (3, 4)),
        ((-1, 0.25), (-0.5, -0.25), (0, 0.25), (0.5, -0.25), (1, 0.25)),
        (1.4, 0.6, -0.8, 0.9, -0.5),
    ),
    SmallGraph(
        "Star",
        tuple((0, i) for i in range(1, 7)),
        ((0, 0), *_ring(6)),
        (1.0, 0.9, -0.7, 0.4, 1.3, -1.1, 0.2),
    ),
    SmallGraph(
        "Two components",
        ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5)),
        ((-0.6, -0.7), (-0.2, 0.3), (-1, 0.3), (0.3, 0.7), (0.65, -0.1), (1, 0.7)),
        (1.3, -0.4, 0.5, 0.8, -0.9, 1.2),
    ),
    SmallGraph(
        "Petersen graph",
        (
            *((i, (i + 1) % 5) for i in range(5)),
            *((i, i + 5) for i in range(5)),
            *((i + 5, (i + 2) % 5 + 5) for i in range(5)),
        ),
        (*_ring(5), *_ring(5, 0.5)),
        (1.2, -0.5, 0.8, 0.1, -1.0, 0.6, 1.5, -0.9, 0.3, -0.2),
    ),
)
