"""The Dirichlet energy of features."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import Graph, kernels
from graphsct.names import pick
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, moderate, norm
from graphsct.smoothness.laplacians import LAPLACIANS
from graphsct.smoothness.per_graph import per_graph

__all__ = ["dirichlet_energy", "normalized_dirichlet_energy", "rayleigh_quotient"]

_ENERGY = (
    Axiom.NON_NEGATIVE,
    Axiom.QUADRATIC,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
)
_OF_DIFFERENCES = (
    *_ENERGY,
    Axiom.ZERO_IF_CONSTANT,
    Axiom.POSITIVE_IF_VARIED,
    Axiom.SHIFT_INVARIANT,
)


@satisfies(*_ENERGY, Axiom.ZERO_IF_SMOOTH, Axiom.POSITIVE_IF_ROUGH)
@per_graph
def dirichlet_energy(
    x: Tensor,
    graph: Graph,
    laplacian: str = "symmetric",
    *,
    batch: Tensor | None = None,
) -> Tensor:
    r"""Dirichlet energy, :math:`\|\mathbf X\|_E^2 = \operatorname{tr}(\mathbf X^\top
    (\mathbf I - \mathbf G) \mathbf X)` (Definition 2.3); shapes: ``(n, d) -> ()``.

    Its root is the seminorm :math:`\|\mathbf X\|_E` of the paper's inequalities. With
    :math:`\tilde a_{ij}` and :math:`d_i` the augmented adjacency and degrees, the energies are

    .. math::
        \frac{1}{2} \sum_{ij} \tilde a_{ij} \left\| \frac{\mathbf x_i}{\sqrt{d_i}} -
        \frac{\mathbf x_j}{\sqrt{d_j}} \right\|^2, \qquad
        \frac{1}{2} \sum_{ij} \frac{\tilde a_{ij}}{d_i} \|\mathbf x_i - \mathbf x_j\|^2, \qquad
        \frac{1}{2} \sum_{ij} \tilde a_{ij} \|\mathbf x_i - \mathbf x_j\|^2

    for ``"symmetric"``, ``"random_walk"`` and ``"combinatorial"``. The first is zero on the
    eigenspace, the others on features that are constant on each component. The second is not
    :math:`\operatorname{tr}(\mathbf X^\top (\mathbf I - \tilde{\mathbf D}^{-1} \tilde{\mathbf A})
    \mathbf X)`, which may be negative.

    Args:
        x: shape: ``(n, d)``
        graph: the graph, or the ``edge_index`` of one without weights
        laplacian: ``"symmetric"``, ``"random_walk"`` or ``"combinatorial"``
        batch: the graph of each node, for one value per graph; shape: ``(n,)``
    """
    energy = pick(LAPLACIANS, laplacian, "laplacian", GraphError)
    x = graph.check_features(x)
    return check_finite(energy(x, graph, kernels.inner).clamp_min(0), x)


for _name in ("random_walk", "combinatorial"):
    satisfies(*_OF_DIFFERENCES, name=f"dirichlet_energy({_name})")(
        partial(dirichlet_energy, laplacian=_name)
    )


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_SMOOTH,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.SCALE_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)
@per_graph
def normalized_dirichlet_energy(x: Tensor, graph: Graph, *, batch: Tensor | None = None) -> Tensor:
    r"""Dirichlet energy over squared norm, :math:`\|\mathbf X\|_E^2 / \|\mathbf X\|_F^2`, in
    :math:`[0, 2)`; 0 for features that are all zero; shapes: ``(n, d) -> ()``.

    It is the mean of :func:`rayleigh_quotient`, in which a dimension counts by its squared norm.
    """
    x, size = moderate(graph.check_features(x), norm)
    return dirichlet_energy(x, graph) / torch.where(size > 0, size, 1).square()


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_SMOOTH,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.SCALE_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.COPY_INVARIANT,
)
@per_graph
def rayleigh_quotient(
    x: Tensor,
    graph: Graph,
    laplacian: str = "symmetric",
    *,
    batch: Tensor | None = None,
) -> Tensor:
    r"""Rayleigh quotient of each feature dimension, :math:`\|\mathbf x^{(j)}\|_E^2 / \|\mathbf
    x^{(j)}\|^2`, a mean of the eigenvalues of the Laplacian (`Di Giovanni et al., 2022
    <https://arxiv.org/abs/2206.10991>`_); shapes: ``(n, d) -> (d,)``.

    It is 0 for a dimension that is zero everywhere, as for a smooth one. The arguments are those
    of :func:`dirichlet_energy`.
    """
    energy = pick(LAPLACIANS, laplacian, "laplacian", GraphError)
    scaled, size = moderate(graph.check_features(x), kernels.column_norm)
    form = energy(scaled, graph, lambda a, b: (a * b).sum(0)).clamp_min(0)
    return check_finite(form / torch.where(size > 0, size, 1).square(), x)
