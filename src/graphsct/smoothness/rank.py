"""The effective rank of features."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, check_matrix, moderate, norm

__all__ = ["effective_rank"]


@satisfies(Axiom.NON_NEGATIVE, Axiom.SCALE_INVARIANT, Axiom.ROTATION_INVARIANT)
def effective_rank(x: Tensor) -> Tensor:
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
