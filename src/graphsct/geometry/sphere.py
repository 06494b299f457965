r"""The sphere on which the rough part of an activation's output lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from graphsct.errors import GraphError
from graphsct.geometry.components import check_input
from graphsct.graph import Graph, kernels

__all__ = ["Sphere", "sphere"]


@dataclass(frozen=True)
class Sphere:
    """The sphere on which the rough part of an output lies.

    Args:
        center: shape: ``(n, d)``
        radius: shape: ``()``
        residual: how far the rough part is from the sphere, zero up to rounding; shape: ``()``
    """

    center: Tensor
    radius: Tensor
    residual: Tensor


def sphere(z: Tensor, graph: Graph, negative_slope: float = 0.0) -> Sphere:
    r"""The sphere of ReLU (Proposition 3.2) and of leaky ReLU with slope a (Proposition 3.3).

    For :math:`\mathbf H = \sigma_a(\mathbf Z)` the rough part :math:`\mathbf H_{\mathcal M^\perp}`
    lies on the sphere with

    .. math::
        \text{centre } \tfrac{1 + a}{2} \mathbf Z_{\mathcal M^\perp}, \qquad
        \text{radius } \Big( \big\| \tfrac{1 - a}{2} \mathbf Z_{\mathcal M^\perp} \big\|_F^2 -
        \langle \mathbf H_{\mathcal M} - \mathbf Z_{\mathcal M},
        \mathbf H_{\mathcal M} - a \mathbf Z_{\mathcal M} \rangle_F \Big)^{1/2}.

    Only the radius depends on the smooth part of the input, and it is largest where the inner
    product vanishes: so the output is never farther from the eigenspace than the input.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        negative_slope: a in :math:`[0, 1)`, 0 for ReLU
    """
    a = negative_slope
    if not 0 <= a < 1:
        raise GraphError(f"negative_slope is {a}, expected 0 <= a < 1")
    # A sphere scales with its input, and squares of numbers near 1 stay inside the range of floats.
    scale = _power_of_two(check_input(z, graph))
    z = z / scale
    z_rough = z - graph.project(z)
    h = functional.leaky_relu(z, a)
    center = (1 + a) / 2 * z_rough
    ball = kernels.inner(z_rough, z_rough) / 4
    # By Lemma B.5 the inner product is that of the positive and negative parts: nothing cancels.
    product = kernels.inner(graph.pool(z.clamp_min(0)), graph.pool((-z).clamp_min(0)))
    radius = (1 - a) * (ball - product).clamp_min(0).sqrt()
    offset = h - graph.project(h) - center
    residual = (kernels.column_norm(offset.reshape(-1, 1)).squeeze(0) - radius).abs()
    return Sphere(scale * center, scale * radius, scale * residual)


def _power_of_two(z: Tensor) -> float:
    """A power of two near the largest entry, so dividing by it is exact; 1 if all are zero."""
    largest = z.abs().max().item() if z.numel() else 0.0
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0
