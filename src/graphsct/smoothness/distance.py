"""Distance of features from the eigenspace."""

from __future__ import annotations

from torch import Tensor

from graphsct.graph import Graph
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, norm, rough_part
from graphsct.smoothness.per_graph import per_graph

__all__ = ["distance_to_eigenspace"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_SMOOTH,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.HOMOGENEOUS,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.TRIANGLE_INEQUALITY,
)
@per_graph
def distance_to_eigenspace(x: Tensor, graph: Graph, *, batch: Tensor | None = None) -> Tensor:
    r"""Distance to the eigenspace, :math:`\|\mathbf X\|_{\mathcal M^\perp} = \|\mathbf X -
    \mathbf Q \mathbf Q^\top \mathbf X\|_F` (Definition 2.2); shapes: ``(n, d) -> ()``.

    It depends on the scale of the features: halving them halves it.
    """
    return check_finite(norm(rough_part(x, graph)), x)
