r"""How smooth features on a graph are: the paper's measures, and two that keep them honest.

All take features of shape ``(n, d)`` and a :class:`~graphsct.Graph`, work for any number of
connected components and are differentiable. :math:`\mathbf X_{\mathcal M} = \mathbf Q \mathbf
Q^\top \mathbf X` is the smooth part and :math:`\mathbf X_{\mathcal M^\perp} = \mathbf X -
\mathbf X_{\mathcal M}` the rest. The paper writes features as ``d x n``; here they are PyTorch's
``n x d``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from graphsct import ops
from graphsct.errors import GraphError
from graphsct.graph import Graph

__all__ = [
    "contraction_bound",
    "dead_dimensions",
    "dirichlet_energy",
    "distance_to_eigenspace",
    "effective_rank",
    "equivalence_constants",
    "normalized_dirichlet_energy",
    "normalized_smoothness",
]


def distance_to_eigenspace(x: Tensor, graph: Graph) -> Tensor:
    r"""Distance to the eigenspace, :math:`\|\mathbf X\|_{\mathcal M^\perp} = \|\mathbf X -
    \mathbf Q \mathbf Q^\top \mathbf X\|_F` (Definition 2.2); shapes: ``(n, d) -> ()``.

    Not free of scale: halving the features halves it.
    """
    return _finite(_norm(_rough_part(x, graph)), x)


def dirichlet_energy(x: Tensor, graph: Graph) -> Tensor:
    r"""Dirichlet energy, :math:`\|\mathbf X\|_E^2 = \operatorname{tr}(\mathbf X^\top
    (\mathbf I - \mathbf G) \mathbf X)` (Definition 2.3); shapes: ``(n, d) -> ()``.

    Its root is the seminorm :math:`\|\mathbf X\|_E` of the paper's inequalities. The smooth part
    has no energy, so it is taken off first: what is left does not drown in its rounding errors.
    """
    rough = _rough_part(x, graph)
    energy = ops.inner(rough, rough) - ops.inner(rough, graph.propagate(rough))
    return _finite(energy.clamp_min(0), x)


def normalized_dirichlet_energy(x: Tensor, graph: Graph) -> Tensor:
    r"""Dirichlet energy over squared norm, :math:`\|\mathbf X\|_E^2 / \|\mathbf X\|_F^2`, in
    :math:`[0, 2)`; 0 for features that are all zero; shapes: ``(n, d) -> ()``.
    """
    x, norm = _moderate(graph.check_features(x), _norm)
    return dirichlet_energy(x, graph) / torch.where(norm > 0, norm, 1).square()


def normalized_smoothness(x: Tensor, graph: Graph) -> Tensor:
    r"""Share of each feature dimension that is smooth, :math:`s(\mathbf x^{(j)}) = \|\mathbf
    x^{(j)}_{\mathcal M}\| / \|\mathbf x^{(j)}\|` in :math:`[0, 1]` (Definition 4.1); shapes:
    ``(n, d) -> (d,)``.

    A dimension that is zero everywhere has :math:`s = 1` by definition. Deep ReLU networks make
    many of these; :func:`dead_dimensions` tells them from dimensions that are truly smooth.
    """
    graph.check_whole()
    moderate, norm = _moderate(graph.check_features(x), ops.column_norm)
    smooth = ops.column_norm(graph.pool(moderate))
    dead = norm == 0
    ratio = (smooth / torch.where(dead, 1, norm)).clamp_max(1)
    return _finite(torch.where(dead, 1, ratio), x)


def dead_dimensions(x: Tensor) -> Tensor:
    """Which feature dimensions are zero at every node; shapes: ``(n, d) -> (d,)`` of bools."""
    dead: Tensor = ~_matrix(x).any(dim=0)
    return dead


def effective_rank(x: Tensor) -> Tensor:
    r"""Effective rank, :math:`\exp(-\sum_i p_i \log p_i)` with :math:`p_i = \sigma_i / \sum_j
    \sigma_j` over the singular values (Roy and Vetterli, 2007); shapes: ``(n, d) -> ()``.

    Between 1 (all dimensions are multiples of one) and ``min(n, d)``; 0 for features that are all
    zero. Unlike :math:`s` it does not change for the better when a constant is added.
    """
    x = _matrix(x)
    if not x.numel():
        return x.sum()
    x, norm = _moderate(x, _norm)
    if not bool(_finite(norm, x) > 0):
        return norm
    sigma = torch.linalg.svdvals(x)
    sigma = sigma[sigma > sigma[0] * max(x.shape) * torch.finfo(x.dtype).eps]
    share = sigma / sigma.sum()
    rank: Tensor = torch.special.entr(share).sum().exp()
    return rank


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
        One factor a weight; shape: ``(...)``
    """
    if not isinstance(weight, Tensor) or weight.dim() < 2 or not weight.is_floating_point():
        what = tuple(weight.shape) if isinstance(weight, Tensor) else type(weight).__name__
        raise GraphError(f"weight is {what}, expected a floating point tensor (..., d, d')")
    _finite(weight.detach().sum(), weight)
    extremes = graph.extreme_eigenvalues
    largest = 0.0 if extremes is None else max(abs(value) for value in extremes)
    spectral_norm: Tensor = torch.linalg.matrix_norm(weight, 2)
    return largest * spectral_norm


def _rough_part(x: Tensor, graph: Graph) -> Tensor:
    graph.check_whole()
    return graph.project(x).neg_().add_(x)  # x - project(x) with one array less


def _norm(x: Tensor) -> Tensor:
    return ops.column_norm(x.reshape(-1, 1)).squeeze(0)


def _moderate(x: Tensor, norm_of: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Features and their norm, on a scale where squares and gradients stay in the range of floats.

    Only for what is free of scale; features that need no help are returned as they are.
    """
    norm = norm_of(x)
    edge = torch.finfo(x.dtype).tiny ** 0.25
    if bool(((edge < norm) & (norm < 1 / edge)).all()):
        return x, norm
    x = x / torch.where((norm > 0) & norm.isfinite(), norm, 1).detach()
    return x, norm_of(x)


def _matrix(x: Tensor) -> Tensor:
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise GraphError(f"features are {what}, expected a floating point tensor (n, d)")
    return x


def _finite(value: Tensor, x: Tensor) -> Tensor:
    """Return ``value``; if it is not finite, say which entry of ``x`` is to blame."""
    if bool(torch.isfinite(value).all()):
        return value
    bad = (~torch.isfinite(x)).nonzero()
    if len(bad):
        where = tuple(bad[0].tolist())
        raise GraphError(
            f"x{list(where)} is {x[where].item()} ({len(bad)} such entries); "
            "repair it, for instance with x.nan_to_num()"
        )
    raise GraphError(
        f"features as large as {x.abs().max().item():.3g} overflow {x.dtype}; "
        "scale them down or use float64"
    )
