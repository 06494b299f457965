"""The Dirichlet energy of features."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.graph import Graph, kernels
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, moderate, norm, rough_part

__all__ = ["dirichlet_energy", "normalized_dirichlet_energy"]


@satisfies(Axiom.NON_NEGATIVE, Axiom.ZERO_IF_SMOOTH, Axiom.QUADRATIC, Axiom.ROTATION_INVARIANT)
def dirichlet_energy(x: Tensor, graph: Graph) -> Tensor:
    r"""Dirichlet energy, :math:`\|\mathbf X\|_E^2 = \operatorname{tr}(\mathbf X^\top
    (\mathbf I - \mathbf G) \mathbf X)` (Definition 2.3); shapes: ``(n, d) -> ()``.

    Its root is the seminorm :math:`\|\mathbf X\|_E` of the paper's inequalities. The smooth part
    has no energy, so it is removed first, lest its rounding errors hide the energy of the rest.
    """
    rough = rough_part(x, graph)
    energy = kernels.inner(rough, rough) - kernels.inner(rough, graph.propagate(rough))
    return check_finite(energy.clamp_min(0), x)


@satisfies(
    Axiom.NON_NEGATIVE, Axiom.ZERO_IF_SMOOTH, Axiom.SCALE_INVARIANT, Axiom.ROTATION_INVARIANT
)
def normalized_dirichlet_energy(x: Tensor, graph: Graph) -> Tensor:
    r"""Dirichlet energy over squared norm, :math:`\|\mathbf X\|_E^2 / \|\mathbf X\|_F^2`, in
    :math:`[0, 2)`; 0 for features that are all zero; shapes: ``(n, d) -> ()``.
    """
    x, size = moderate(graph.check_features(x), norm)
    return dirichlet_energy(x, graph) / torch.where(size > 0, size, 1).square()
