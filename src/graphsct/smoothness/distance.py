"""Distance of features from the eigenspace."""

from __future__ import annotations

from torch import Tensor

from graphsct.graph import Graph
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, norm, rough_part

__all__ = ["distance_to_eigenspace"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_SMOOTH,
    Axiom.HOMOGENEOUS,
    Axiom.ROTATION_INVARIANT,
    Axiom.TRIANGLE_INEQUALITY,
)
def distance_to_eigenspace(x: Tensor, graph: Graph) -> Tensor:
    r"""Distance to the eigenspace, :math:`\|\mathbf X\|_{\mathcal M^\perp} = \|\mathbf X -
    \mathbf Q \mathbf Q^\top \mathbf X\|_F` (Definition 2.2); shapes: ``(n, d) -> ()``.

    It depends on the scale of the features: halving them halves it.
    """
    return check_finite(norm(rough_part(x, graph)), x)
