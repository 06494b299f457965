r"""The smoothness that a shift inside the eigenspace can reach."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from graphsct.geometry.activations import negative_slope_of, resolve
from graphsct.geometry.components import Components, check_input
from graphsct.graph import Graph

__all__ = ["SmoothnessRange", "smoothness_range"]


@dataclass(frozen=True)
class SmoothnessRange:
    """The normalized smoothness that a shift can reach, per component and feature dimension.

    Args:
        lower: infimum; shape: ``(m, d)``
        upper: supremum; shape: ``(m, d)``
        lower_attained: whether a shift reaches the infimum; shape: ``(m, d)``
        upper_attained: whether a shift reaches the supremum; shape: ``(m, d)``
    """

    lower: Tensor
    upper: Tensor
    lower_attained: Tensor
    upper_attained: Tensor

    def contains(self, target: Tensor) -> Tensor:
        """Whether a shift reaches the target, up to the rounding of the bounds."""
        slack = 8 * torch.finfo(self.lower.dtype).eps
        above = torch.where(self.lower_attained, target >= self.lower - slack, target > self.lower)
        below = torch.where(self.upper_attained, target <= self.upper + slack, target < self.upper)
        return above & below


@torch.no_grad()
def smoothness_range(
    z: Tensor, graph: Graph, activation: str | nn.Module = "relu"
) -> SmoothnessRange:
    r"""The interval of :math:`s(\sigma(\mathbf z - \alpha \mathbf e))` over all :math:`\alpha`.

    With :math:`\mathbf x = \tilde{\mathbf D}^{-1/2} \mathbf z`, on one connected component:

    - ReLU: :math:`\Big[\sqrt{\sum_{x_i = \max x} d_i / \sum_j d_j}, 1\Big]`;
    - leaky ReLU and identity: :math:`[0, 1)`;
    - ELU and SELU: :math:`[0, 1)`.

    If the rough part of the component is zero, the interval is :math:`[1, 1]` instead, and
    :math:`(L, 1]` for ELU and SELU.

    (Propositions 4.3, 4.4 and C.1.) ReLU reaches 1 only with an output that is zero everywhere,
    whose smoothness is 1 by definition. ELU and SELU are not homogeneous, so they bend even a
    smooth input out of the eigenspace: by at most :math:`L = \sum_i \sqrt{d_i} / \sqrt{n \sum_j
    d_j}`, which is 1 on a regular graph.

    *Several components.* Each has its own interval and its own :math:`\alpha`. The square of the
    smoothness of the whole is the mean of the squares of the components' smoothness, weighted by
    :math:`\|\mathbf h_i\|^2`: it lies between the smallest and the largest of these squares.
    If all components have smoothness ``t``, so has the whole, and a component whose output is zero
    does not count. So the whole reaches every value that one of its components reaches, if the
    others reach it too or can be made zero. This is what :func:`solve_alpha` does.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        activation: a name or module: ReLU, leaky ReLU, identity, ELU or SELU
    """
    slope = negative_slope_of(resolve(activation))
    parts = Components(check_input(z, graph), graph)
    constant, ones = parts.constant, torch.ones_like(parts.mean)
    if slope is None:
        bent = parts.bent_limit * ones
        lower, lower_attained = torch.where(constant, bent, 0), ~constant | (bent == 1)
        upper_attained = constant
    else:
        share = parts.share_at_maximum if slope == 0 else 0 * ones
        lower, lower_attained = torch.where(constant, 1, share.sqrt()), ones.bool()
        upper_attained = constant | (slope == 0)
    return SmoothnessRange(lower.to(z.dtype), ones.to(z.dtype), lower_attained, upper_attained)
