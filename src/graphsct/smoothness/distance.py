"""Distance of features from the eigenspace."""

from __future__ import annotations

from torch import Tensor

from graphsct.graph import Graph
from graphsct.smoothness.features import check_finite, norm, rough_part

__all__ = ["distance_to_eigenspace"]


def distance_to_eigenspace(x: Tensor, graph: Graph) -> Tensor:
    r"""Distance to the eigenspace, :math:`\|\mathbf X\|_{\mathcal M^\perp} = \|\mathbf X -
    \mathbf Q \mathbf Q^\top \mathbf X\|_F` (Definition 2.2); shapes: ``(n, d) -> ()``.

    Not free of scale: halving the features halves it.
    """
    return check_finite(norm(rough_part(x, graph)), x)
