"""How far the features of neighbours point apart."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.graph import Graph, kernels
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import unit_rows
from graphsct.smoothness.laplacians import walk_energy
from graphsct.smoothness.per_graph import per_graph

__all__ = ["mean_average_distance"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_SMOOTH,
    Axiom.ZERO_IF_CONSTANT,
    Axiom.SCALE_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)
@per_graph
def mean_average_distance(x: Tensor, graph: Graph, *, batch: Tensor | None = None) -> Tensor:
    r"""Mean average distance (MAD) of neighbours by angle (`Chen et al., 2020
    <https://arxiv.org/abs/1909.03211>`_); shapes: ``(n, d) -> ()``.

    .. math::
        \frac{1}{n} \sum_i \frac{1}{|\mathcal N_i|} \sum_{j \in \mathcal N_i} \Big( 1 -
        \frac{\mathbf x_i \cdot \mathbf x_j}{\|\mathbf x_i\| \, \|\mathbf x_j\|} \Big)

    It lies in :math:`[0, 2]`. Isolated nodes are left out; without edges it is 0. Weights and
    self-loops do not count. The distance of two nodes whose features are all zero is 0, and that
    of one such node to any other is 1/2. The authors leave out distances that are exactly zero;
    here they count, so that equal neighbours lower the mean.

    Args:
        x: shape: ``(n, d)``
        graph: the graph, or its ``edge_index``
        batch: the graph of each node, for one value per graph; shape: ``(n,)``

    Example:
        >>> import torch
        >>> x, edge_index = torch.tensor([[1.0, 0.0], [0.0, 3.0]]), torch.tensor([[0, 1], [1, 0]])
        >>> mean_average_distance(x, edge_index)
        tensor(1.)
    """
    direction = unit_rows(graph.check_features(x))
    entries, columns = graph.matrix.crow_indices().diff(), graph.matrix.col_indices()
    nodes = torch.arange(graph.num_nodes, dtype=columns.dtype, device=columns.device)
    joins = columns != nodes.repeat_interleave(entries, output_size=len(columns))
    distances = walk_energy(direction, graph, joins.to(graph.dtype), kernels.inner).clamp_min(0)
    joined = int((entries > 1).sum())  # each node has an entry of its own
    return distances / max(1, joined)
