r"""How smooth features on a graph are: the measures of the paper, and those of the field.

Measures take features of shape ``(n, d)`` and, if they depend on it, a :class:`~graphsct.Graph` or
an ``edge_index``. They work for any number of connected components and are differentiable. With
``batch``, the graph of each node as in PyTorch Geometric, they give one value per graph.
``MEASURES`` lists the axioms of each.
:math:`\mathbf X_{\mathcal M} = \mathbf Q \mathbf Q^\top \mathbf X` is the smooth part and
:math:`\mathbf X_{\mathcal M^\perp} = \mathbf X - \mathbf X_{\mathcal M}` the rest. The paper writes
features as ``d x n``; here they are ``n x d``, as in PyTorch.
"""

from graphsct.smoothness.axioms import MEASURES, Axiom
from graphsct.smoothness.bounds import contraction_bound, equivalence_constants
from graphsct.smoothness.correlation import over_correlation
from graphsct.smoothness.cosine import mean_average_distance
from graphsct.smoothness.distance import distance_to_eigenspace
from graphsct.smoothness.energy import (
    dirichlet_energy,
    normalized_dirichlet_energy,
    rayleigh_quotient,
)
from graphsct.smoothness.groups import group_distance_ratio
from graphsct.smoothness.information import instance_information_gain
from graphsct.smoothness.rank import effective_rank, numerical_rank
from graphsct.smoothness.share import dead_dimensions, normalized_smoothness

__all__ = [
    "MEASURES",
    "Axiom",
    "contraction_bound",
    "dead_dimensions",
    "dirichlet_energy",
    "distance_to_eigenspace",
    "effective_rank",
    "equivalence_constants",
    "group_distance_ratio",
    "instance_information_gain",
    "mean_average_distance",
    "normalized_dirichlet_energy",
    "normalized_smoothness",
    "numerical_rank",
    "over_correlation",
    "rayleigh_quotient",
]
