"""How well features tell nodes apart."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import check_matrix, rows_for_pairs, unit_rows
from graphsct.smoothness.per_graph import per_graph

__all__ = ["instance_information_gain"]

_VARIANCE = 0.1  # of the noise, as in the authors' code


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.ZERO_IF_CONSTANT,
    Axiom.SCALE_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)
@per_graph
def instance_information_gain(x: Tensor, *, batch: Tensor | None = None) -> Tensor:
    r"""Instance information gain, the mutual information of input and features in bits (`Zhou et
    al., 2020 <https://arxiv.org/abs/2006.06972>`_); shapes: ``(n, d) -> ()``.

    Features are a function of the input, so this is the entropy of the features, with Gaussian
    noise of variance :math:`\sigma^2 = 0.1`, less that of the noise. Their rows are scaled to
    length one, :math:`\mathbf u_i`, and the entropy has the lower bound of `Kolchinsky and Tracey,
    2017 <https://arxiv.org/abs/1706.02419>`_:

    .. math::
        -\frac{1}{n} \sum_i \log_2 \frac{1}{n} \sum_j
        \exp \Big( -\frac{\|\mathbf u_i - \mathbf u_j\|^2}{8 \sigma^2} \Big)

    It lies between 0, if all nodes point the same way, and :math:`\log_2 n`. Time grows with
    :math:`n^2`, and so does memory if a gradient is asked for. The noise, the rows and the bound
    are those of the authors' code, which, however, reduces the features of a node to the index of
    the largest one, and so has no gradient.
    """
    if not check_matrix(x).numel():
        return x.sum()
    direction = unit_rows(x)
    offset = direction - direction.mean(0)  # the same differences, with smaller rounding errors
    square = offset.square().sum(1)

    def density(some: Tensor) -> Tensor:
        distance = some.square().sum(1, keepdim=True) + square - 2 * some @ offset.t()
        return torch.logsumexp(-distance.clamp_min(0) / (8 * _VARIANCE), 1) - math.log(len(x))

    kernel = torch.cat([density(some) for some in rows_for_pairs(offset)])
    return (-kernel.mean() / math.log(2)).clamp_min(0)
