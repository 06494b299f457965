"""The rank of features, without a threshold."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from graphsct.graph import kernels
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, check_matrix, moderate, norm
from graphsct.smoothness.per_graph import per_graph

__all__ = ["effective_rank", "numerical_rank"]

_AXIOMS = (
    Axiom.NON_NEGATIVE,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.POSITIVE_IF_VARIED,
    Axiom.SCALE_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)


@satisfies(*_AXIOMS)
@per_graph
def effective_rank(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Effective rank, :math:`\exp(-\sum_i p_i \log p_i)` with :math:`p_i = \sigma_i / \sum_j
    \sigma_j` over the singular values (Roy and Vetterli, 2007); shapes: ``(n, d) -> ()``.

    It lies between 1, if all dimensions are multiples of one, and ``min(n, d)``; it is 0 for
    features that are all zero. Unlike :math:`s`, it does not improve when a constant is added.
    """
    return _rank(x, lambda sigma, size: torch.special.entr(sigma / sigma.sum()).sum().exp())


@satisfies(*_AXIOMS)
@per_graph
def numerical_rank(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Numerical (stable) rank, :math:`\|\mathbf X\|_F^2 / \|\mathbf X\|_2^2`, with the spectral
    norm below (`Rudelson and Vershynin, 2007 <https://arxiv.org/abs/math/0503442>`_); shapes:
    ``(n, d) -> ()``.

    It lies between 1 and the rank, near 1 as soon as one direction dominates; it is 0 for features
    that are all zero.
    """
    return _rank(x, lambda sigma, size: (size / sigma[0]).square())


def _rank(x: Tensor, of: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """A function of the singular values and the norm of features; 0 if they are all zero."""
    x = check_matrix(x)
    if not x.numel():
        return x.sum()
    x, size = moderate(x, norm)
    if not bool(check_finite(size, x) > 0):
        return size
    return of(_singular_values(x), size).to(x.dtype)


def _singular_values(x: Tensor) -> Tensor:
    """Those that are more than rounding, in float64 and in descending order."""
    if x.dtype == torch.float64:
        sigma: Tensor = torch.linalg.svdvals(x)
        return sigma[sigma > sigma[0] * max(x.shape) * torch.finfo(x.dtype).eps]
    # Squares in float64 lose nothing of what a lower precision holds, however many rows there are.
    gram = kernels.gram(x if len(x) >= x.shape[1] else x.t(), torch.float64)
    square: Tensor = torch.linalg.eigvalsh(gram).flip(0)
    return square[square > square[0] * (8 * torch.finfo(x.dtype).eps) ** 2].sqrt()
