"""The share of each feature dimension that is smooth."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.graph import Graph, kernels
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, check_matrix, moderate
from graphsct.smoothness.per_graph import per_graph

__all__ = ["dead_dimensions", "normalized_smoothness"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ONE_IF_SMOOTH,
    Axiom.SCALE_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.COPY_INVARIANT,
)
@per_graph
def normalized_smoothness(x: Tensor, graph: Graph, *, batch: Tensor | None = None) -> Tensor:
    r"""Share of each feature dimension that is smooth, :math:`s(\mathbf x^{(j)}) = \|\mathbf
    x^{(j)}_{\mathcal M}\| / \|\mathbf x^{(j)}\|` in :math:`[0, 1]` (Definition 4.1); shapes:
    ``(n, d) -> (d,)``.

    A dimension that is zero everywhere has :math:`s = 1` by definition. Deep ReLU networks have
    many of them; :func:`dead_dimensions` tells them from dimensions that are truly smooth.
    """
    graph.check_whole()
    scaled, norm = moderate(graph.check_features(x), kernels.column_norm)
    smooth = kernels.column_norm(graph.pool(scaled))
    dead = norm == 0
    ratio = (smooth / torch.where(dead, 1, norm)).clamp_max(1)
    return check_finite(torch.where(dead, 1, ratio), x)


def dead_dimensions(x: Tensor) -> Tensor:
    """Which feature dimensions are zero at every node; shapes: ``(n, d) -> (d,)`` of bools."""
    dead: Tensor = ~check_matrix(x).any(dim=0)
    return dead
