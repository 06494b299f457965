"""The rank of features, without a threshold."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, check_matrix, moderate, norm
from graphsct.smoothness.per_graph import per_graph

__all__ = ["effective_rank", "numerical_rank"]

_RANK = (
    Axiom.NON_NEGATIVE,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.POSITIVE_IF_VARIED,
    Axiom.SCALE_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)


@satisfies(*_RANK)
@per_graph
def effective_rank(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Effective rank, :math:`\exp(-\sum_i p_i \log p_i)` with :math:`p_i = \sigma_i / \sum_j
    \sigma_j` over the singular values (Roy and Vetterli, 2007); shapes: ``(n, d) -> ()``.

    It lies between 1, if all dimensions are multiples of one, and ``min(n, d)``; it is 0 for
    features that are all zero. Unlike :math:`s`, it does not improve when a constant is added.
    """
    x = check_matrix(x)
    if not x.numel():
        return x.sum()
    x, size = moderate(x, norm)
    if not bool(check_finite(size, x) > 0):
        return size
    sigma = torch.linalg.svdvals(x)
    sigma = sigma[sigma > sigma[0] * max(x.shape) * torch.finfo(x.dtype).eps]
    share = sigma / sigma.sum()
    rank: Tensor = torch.special.entr(share).sum().exp()
    return rank


@satisfies(*_RANK)
@per_graph
def numerical_rank(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Numerical (stable) rank, :math:`\|\mathbf X\|_F^2 / \|\mathbf X\|_2^2`, with the spectral
    norm below (`Rudelson and Vershynin, 2007 <https://arxiv.org/abs/math/0503442>`_); shapes:
    ``(n, d) -> ()``.

    It lies between 1 and the rank, near 1 as soon as one direction dominates; it is 0 for features
    that are all zero.
    """
    x = check_matrix(x)
    if not x.numel():
        return x.sum()
    x, size = moderate(x, norm)
    if not bool(check_finite(size, x) > 0):
        return size
    rank: Tensor = (size / torch.linalg.matrix_norm(x, 2)).square()
    return rank
