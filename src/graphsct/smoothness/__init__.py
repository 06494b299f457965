r"""How smooth features on a graph are: the measures of the paper, and two to check them by.

All measures take features of shape ``(n, d)`` and a :class:`~graphsct.Graph`, work for any number
of connected components and are differentiable; ``MEASURES`` lists the axioms of each.
:math:`\mathbf X_{\mathcal M} = \mathbf Q \mathbf Q^\top \mathbf X` is the smooth part and
:math:`\mathbf X_{\mathcal M^\perp} = \mathbf X - \mathbf X_{\mathcal M}` the rest. The paper writes
features as ``d x n``; here they are ``n x d``, as in PyTorch.
"""

from graphsct.smoothness.axioms import MEASURES, Axiom
from graphsct.smoothness.bounds import contraction_bound, equivalence_constants
from graphsct.smoothness.distance import distance_to_eigenspace
from graphsct.smoothness.energy import dirichlet_energy, normalized_dirichlet_energy
from graphsct.smoothness.rank import effective_rank
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
    "normalized_dirichlet_energy",
    "normalized_smoothness",
]
