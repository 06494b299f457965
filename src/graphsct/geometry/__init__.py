r"""What an activation does to smoothness, and how a shift inside the eigenspace controls it.

The input :math:`\mathbf z` of an activation is shifted by :math:`\alpha \mathbf e` in each
connected component: :math:`\mathbf z(\alpha) = \mathbf z - \alpha \mathbf e`. The shift keeps its
distance to the eigenspace, but moves the smoothness of the output :math:`\mathbf
h(\alpha) = \sigma(\mathbf z(\alpha))` through a whole interval.
"""

from graphsct.geometry.activations import ACTIVATIONS
from graphsct.geometry.alpha import solve_alpha
from graphsct.geometry.range import SmoothnessRange, smoothness_range
from graphsct.geometry.sphere import Sphere, sphere

__all__ = [
    "ACTIVATIONS",
    "SmoothnessRange",
    "Sphere",
    "smoothness_range",
    "solve_alpha",
    "sphere",
]
