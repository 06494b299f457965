"""All measures of features at once, as plain numbers for tables and files."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from graphsct import smoothness
from graphsct.graph import Graph

__all__ = ["Summary", "summarize"]


@dataclass(frozen=True)
class Summary:
    """The smoothness of features of shape ``(n, d)``.

    Args:
        dimensions: number of dimensions, d
        dead: number of dimensions that are zero at every node
        smoothness: median normalized smoothness of live dimensions, ``None`` if all are dead; dead
            dimensions have 1 by definition and would hide the others
        distance: distance to the eigenspace
        dirichlet_energy: depends on the scale, like the distance
        normalized_dirichlet_energy: independent of the scale, in ``[0, 2)``
        effective_rank: between 1 and ``min(n, d)``, 0 if all are dead
    """

    dimensions: int
    dead: int
    smoothness: float | None
    distance: float
    dirichlet_energy: float
    normalized_dirichlet_energy: float
    effective_rank: float


def summarize(x: Tensor, graph: Graph) -> Summary:
    """Measure features of shape ``(n, d)`` on a graph.

    Example:
        >>> import torch
        >>> graph = Graph([[0, 1], [1, 0]])
        >>> found = summarize(torch.tensor([[3.0, 1.0, 0.0], [4.0, 1.0, 0.0]]), graph)
        >>> found.dimensions, found.dead, round(found.smoothness, 3)
        (3, 1, 0.995)
    """
    x = x.detach()
    dead = smoothness.dead_dimensions(x)
    alive = smoothness.normalized_smoothness(x, graph)[~dead]
    return Summary(
        dimensions=x.shape[1],
        dead=int(dead.sum()),
        smoothness=alive.quantile(0.5).item() if len(alive) else None,
        distance=smoothness.distance_to_eigenspace(x, graph).item(),
        dirichlet_energy=smoothness.dirichlet_energy(x, graph).item(),
        normalized_dirichlet_energy=smoothness.normalized_dirichlet_energy(x, graph).item(),
        effective_rank=smoothness.effective_rank(x).item(),
    )
