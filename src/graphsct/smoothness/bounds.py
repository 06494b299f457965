"""Bounds of the theory: how the two seminorms relate, and how fast a layer smooths."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import Graph
from graphsct.smoothness.features import check_finite

__all__ = ["contraction_bound", "equivalence_constants"]


def equivalence_constants(graph: Graph) -> tuple[float, float]:
    r"""The constants :math:`\sqrt{1 - \lambda_{m+1}}` and :math:`\sqrt 2` between which the two
    seminorms are equivalent (Proposition 3.1):

    .. math::
        \sqrt{1 - \lambda_{m+1}} \, \|\mathbf X\|_{\mathcal M^\perp} \le \|\mathbf X\|_E \le
        \sqrt 2 \, \|\mathbf X\|_{\mathcal M^\perp}.

    If all nodes are isolated both sides are zero, and both constants are :math:`\sqrt 2`.
    """
    extremes = graph.extreme_eigenvalues
    largest = -1.0 if extremes is None else extremes[0]
    return math.sqrt(max(0.0, 1 - largest)), math.sqrt(2)


def contraction_bound(weight: Tensor, graph: Graph) -> Tensor:
    r"""The factor :math:`s_l \lambda` by which one layer :math:`\sigma(\mathbf G \mathbf X \mathbf
    W)` shrinks, at least, the distance to the eigenspace (Oono and Suzuki) and the root of the
    Dirichlet energy (Cai and Wang), for ReLU and leaky ReLU.

    :math:`s_l` is the largest singular value of the weight, :math:`\lambda = \max\{|\lambda_i| :
    \lambda_i < 1\}`. Below 1 at every layer, the features converge to the eigenspace.

    Args:
        weight: one weight or a stack of them; shape: ``(..., d, d')``
        graph: the graph

    Returns:
        One factor per weight; shape: ``(...)``
    """
    if not isinstance(weight, Tensor) or weight.dim() < 2 or not weight.is_floating_point():
        what = tuple(weight.shape) if isinstance(weight, Tensor) else type(weight).__name__
        raise GraphError(f"weight is {what}, expected a floating point tensor (..., d, d')")
    if weight.layout != torch.strided:
        raise GraphError(f"weight is {weight.layout}, expected a dense one; use weight.to_dense()")
    if weight.is_meta:
        raise GraphError("weight is on 'meta', where tensors have no values")
    if weight.dtype in (torch.float16, torch.bfloat16):
        weight = weight.float()
    check_finite(weight.detach().sum(), weight)
    extremes = graph.extreme_eigenvalues
    largest = 0.0 if extremes is None else max(abs(value) for value in extremes)
    spectral_norm: Tensor = torch.linalg.matrix_norm(weight, 2)
    return largest * spectral_norm
