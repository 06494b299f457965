"""How far classes lie apart."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.smoothness.axioms import Axiom, satisfies
from graphsct.smoothness.features import (
    check_finite,
    check_labels,
    check_matrix,
    moderate,
    norm,
    rows_for_pairs,
)

__all__ = ["group_distance_ratio"]


@satisfies(
    Axiom.NON_NEGATIVE,
    Axiom.POSITIVE_IF_ROUGH,
    Axiom.POSITIVE_IF_VARIED,
    Axiom.SCALE_INVARIANT,
    Axiom.SHIFT_INVARIANT,
    Axiom.ROTATION_INVARIANT,
    Axiom.PERMUTATION_INVARIANT,
    Axiom.DEAD_INVARIANT,
    Axiom.COPY_INVARIANT,
)
def group_distance_ratio(x: Tensor, y: Tensor) -> Tensor:
    r"""Distance of classes over the distance inside them (`Zhou et al., 2020
    <https://arxiv.org/abs/2006.06972>`_); shapes: ``(n, d), (n,) -> ()``.

    .. math::
        \frac{\frac{1}{(C-1)^2} \sum_{i \ne j} \overline{\|\mathbf x_v - \mathbf x_w\|}_{v \in i, w
        \in j}}{\frac{1}{C} \sum_i \overline{\|\mathbf x_v - \mathbf x_w\|}_{v, w \in i}}

    where the bar is the mean over all pairs, so time grows with :math:`n^2`, and so does memory if
    a gradient is asked for. It is about :math:`C / (C - 1)` for large classes that cannot be told
    apart, infinite if each class is one point, and 1 if all nodes are equal, as in the authors'
    code. The function of this name in
    PyTorch Geometric takes the mean over all nodes of other classes instead of the sum over
    classes, and has no gradient.

    Args:
        x: shape: ``(n, d)``
        y: the class of each node, at least two of them; shape: ``(n,)``
    """
    x = check_matrix(x)
    classes, y = torch.unique(check_labels(y, "y", x), return_inverse=True)
    count = len(classes)
    if count < 2:
        raise GraphError(f"y has {count} class, expected two or more; pass all nodes with classes")
    scaled, size = moderate(x, norm)
    check_finite(size, x)
    member = torch.nn.functional.one_hot(y, count).to(x.dtype)
    member = member / member.sum(0)
    exact = "donot_use_mm_for_euclid_dist"
    to_classes = torch.cat(
        [torch.cdist(some, scaled, compute_mode=exact) @ member for some in rows_for_pairs(scaled)]
    )
    mean = member.t() @ to_classes
    inside = mean.trace() / count
    between = (mean.sum() - mean.trace()) / (count - 1) ** 2
    equal = between <= size * torch.finfo(x.dtype).eps  # and so is what is inside, up to rounding
    return torch.where(equal, 1, between / torch.where(equal, 1, inside))
