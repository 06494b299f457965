"""How much feature dimensions repeat each other."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.graph import kernels
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_finite, check_matrix, moderate
from graphsct.smoothness.per_graph import per_graph

__all__ = ["over_correlation"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_CONSTANT,
    Axiom.SCALE_INVARIANT,
    Axiom.SHIFT_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
)
@per_graph
def over_correlation(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Over-correlation, the mean :math:`|\rho(\mathbf x^{(i)}, \mathbf x^{(j)})|` of Pearson's
    correlation over the pairs of dimensions :math:`i \ne j` (`Jin et al., 2022
    <https://arxiv.org/abs/2206.07743>`_); shapes: ``(n, d) -> ()``.

    It lies between 0 and 1, the value of dimensions that all repeat one. A dimension that is the
    same at every node has no correlation and is left out; 0 if fewer than two others remain.
    """
    if not check_matrix(x).numel():
        return x.sum()
    scaled, size = moderate(x, kernels.column_norm)
    check_finite(size, x)
    centered = scaled - scaled.mean(0)
    centered = centered - centered.mean(0)  # what rounding has left of the mean of many nodes
    spread = kernels.column_norm(centered)
    varies = spread > 4 * size * torch.finfo(x.dtype).eps  # more than rounding
    unit = torch.where(varies, centered / torch.where(varies, spread, 1), 0)
    correlation = kernels.gram(unit, x.dtype).abs().to(x.dtype)
    pairs = int(varies.sum()) * (int(varies.sum()) - 1)
    return (correlation.sum() - correlation.trace()) / max(1, pairs)
