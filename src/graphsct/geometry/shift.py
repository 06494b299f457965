r"""Solvers for the shift :math:`\alpha` that gives an output its wanted smoothness.

Both solve :math:`\langle \mathbf h, \mathbf e \rangle / \|\mathbf h\| = t` on each component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from scipy.optimize.elementwise import find_root
from torch import Tensor, nn

from graphsct.errors import GraphError
from graphsct.geometry.components import Components

__all__ = ["shift_piecewise_linear", "shift_smooth"]


@dataclass(frozen=True)
class _Sorted:
    """Standardized x, one row per feature dimension, descending within each component.

    Args:
        value: shape: ``(d, n)``
        weight: the degrees in that order; shape: ``(d, n)``
        segment: the component each place belongs to; shape: ``(n,)``
        first: the place where each component begins; shape: ``(m,)``
    """

    value: Tensor
    weight: Tensor
    segment: Tensor
    first: Tensor

    @classmethod
    def of(cls, parts: Components) -> _Sorted:
        deviation = torch.where(parts.constant, 1, parts.deviation)
        value = (parts.x - parts.spread(parts.mean)) / parts.spread(deviation)
        value, order = value.t().contiguous().sort(dim=1, descending=True)
        if parts.num_components > 1:
            rank = parts.component[order].argsort(dim=1, stable=True)
            value, order = value.gather(1, rank), order.gather(1, rank)
        size = parts.size.squeeze(1).long()
        segment = torch.arange(len(size), device=size.device).repeat_interleave(size)
        return cls(value, parts.degree[:, 0][order], segment, size.cumsum(0) - size)

    @property
    def last(self) -> Tensor:
        """The place where each component ends; shape: ``(m,)``."""
        return torch.cat([self.first[1:], self.first.new_tensor([len(self.segment)])]) - 1

    def reversed(self) -> _Sorted:
        """The negated values in reverse order."""
        places, m = len(self.segment) - 1, len(self.first) - 1
        return _Sorted(
            -self.value.flip(1),
            self.weight.flip(1),
            m - self.segment.flip(0),
            places - self.last.flip(0),
        )

    def gap(self) -> Tensor:
        """How much smaller the next value is, 0 at the end of a component; shape: ``(d, n)``."""
        gap = torch.zeros_like(self.value)
        torch.sub(self.value[:, :-1], self.value[:, 1:], out=gap[:, :-1])
        gap[:, self.last] = 0
        return gap

    def last_place(self, mask: Tensor) -> Tensor:
        """The last place of each component where the mask holds; shapes: ``(d, n) -> (d, m)``."""
        place = torch.arange(len(self.segment), device=mask.device) * mask
        start = self.first.expand(len(mask), -1)
        return start.scatter_reduce(1, self.segment.expand_as(place), place, "amax")

    @cached_property
    def by_size(self) -> list[Tensor]:
        """The places of all components of one size, for each size above one; shapes: ``(c, s)``."""
        size = self.last - self.first + 1
        place = torch.arange(len(self.segment), device=size.device)
        return [
            self.first[size == s].unsqueeze(1) + place[:s]
            for s in torch.unique(size).tolist()
            if s > 1
        ]

    def sum_before(self, terms: Tensor) -> Tensor:
        """Sum of all earlier terms of the same component; shape: ``(d, n)``.

        One running sum over all components would lose light components to rounding.
        """
        total = torch.zeros_like(terms)
        if len(self.first) == 1:
            torch.cumsum(terms[:, :-1], dim=1, out=total[:, 1:])
            return total
        for places in self.by_size:
            total[:, places[:, 1:]] = terms[:, places[:, :-1]].cumsum(dim=2)
        return total

    def sums_before(self) -> tuple[Tensor, Tensor, Tensor]:
        r""":math:`\sum w_i`, :math:`\sum w_i (y_i - y_j)` and :math:`\sum w_i (y_i - y_j)^2` over
        the values before each :math:`y_j`: running sums of positive terms, so nothing cancels.
        """
        gap, count = self.gap(), self.sum_before(self.weight)
        here = count + self.weight
        linear = self.sum_before(here * gap)
        square = self.sum_before(gap * (2 * linear + gap * here))
        return count, linear, square


def shift_piecewise_linear(parts: Components, target: Tensor, slope: float) -> Tensor:
    r"""Closed form for leaky ReLU with slope a, ReLU (a = 0) and the identity (a = 1).

    Let :math:`x_1 \ge x_2 \ge \ldots` and let :math:`\tau = \alpha / c` lie between two of them.
    Above :math:`\tau` the activation has slope 1, below it slope a, so

    .. math::
        c \langle \mathbf h, \mathbf e \rangle = \sum_{x_i > \tau} d_i (x_i - \tau)
        - a \sum_{x_i < \tau} d_i (\tau - x_i), \qquad
        \|\mathbf h\|^2 = \sum_{x_i > \tau} d_i (x_i - \tau)^2
        + a^2 \sum_{x_i < \tau} d_i (\tau - x_i)^2

    and the equation is quadratic in :math:`\tau`. The ratio falls with :math:`\tau`, so its values
    at the breakpoints :math:`x_j` show which two neighbours enclose the solution.

    Args:
        parts: the components; alpha is 0 for constant ones
        target: t in [0, 1); shape: ``(m, d)``
        slope: a in [0, 1]

    Returns:
        alpha; shape: ``(m, d)``
    """
    ordered = _Sorted.of(parts)
    above, below = ordered.sums_before(), ordered.reversed().sums_before()
    t, c = target.t(), parts.scale.t()  # (d, m), (1, m)

    # At every breakpoint: is it before the solution?
    linear = above[1] - slope * below[1].flip(1)
    norm = (above[2] + slope**2 * below[2].flip(1)).sqrt()
    before = linear <= (t * c)[:, ordered.segment] * norm  # also at the largest x, where both are 0
    place = ordered.last_place(before)  # (d, m)
    ties = parts.sum(parts.at_maximum.double()).t().long()
    flat = (slope == 0) & (t <= parts.share_at_maximum.t().sqrt() * (1 + 1e-12))
    place = torch.where(flat, ordered.first + ties - 1, place)

    # Between that breakpoint and the next, at a distance delta below it.
    def here(values: Tensor) -> Tensor:
        return values.gather(1, place)

    gap = ordered.gap()
    gap[:, ordered.last] = torch.inf
    gap = here(gap)
    n_above, n_below = here(above[0] + ordered.weight), here(below[0].flip(1))
    l_above, l_below = here(above[1]), here(below[1].flip(1))
    piece = _Piece(
        a=l_above - slope * l_below,
        b=n_above + slope * n_below,
        c0=n_above + slope**2 * n_below,
        c1=l_above - slope**2 * l_below,
        c2=here(above[2]) + slope**2 * here(below[2].flip(1)),
    )
    delta = torch.where(flat, gap / 2, piece.solve((t * c).square(), gap))
    tau = here(ordered.value) - delta
    alpha = parts.scale * (parts.mean + parts.deviation * tau.t())
    return torch.where(parts.constant, 0, alpha)


@dataclass(frozen=True)
class _Piece:
    r"""One piece, :math:`c \langle \mathbf h, \mathbf e \rangle = a + b \delta` and
    :math:`\|\mathbf h\|^2 = c_2 + 2 c_1 \delta + c_0 \delta^2`.
    """

    a: Tensor
    b: Tensor
    c0: Tensor
    c1: Tensor
    c2: Tensor

    def solve(self, q: Tensor, largest: Tensor) -> Tensor:
        r"""The root of :math:`(a + b \delta)^2 = q (c_2 + 2 c_1 \delta + c_0 \delta^2)` with
        :math:`a + b \delta \ge 0` and :math:`0 \le \delta \le` ``largest``.
        """
        a, b, c0, c1, c2 = self.a, self.b, self.c0, self.c1, self.c2
        second, first, zeroth = b * b - q * c0, a * b - q * c1, a * a - q * c2
        inner = b * b * c2 - 2 * a * b * c1 + a * a * c0 - q * (c0 * c2 - c1 * c1)
        root = (q * inner).clamp_min(0).sqrt()
        stable = -(first + torch.where(first < 0, -root, root))
        candidates = torch.stack([stable / second, zeroth / stable])
        candidates = candidates.nan_to_num(0).clamp_min(0).minimum(largest)
        miss = a + b * candidates - (q * (c2 + candidates * (2 * c1 + candidates * c0))).sqrt()
        best = miss.abs().nan_to_num(torch.inf).argmin(0, keepdim=True)
        return candidates.gather(0, best).squeeze(0)


def shift_smooth(parts: Components, target: Tensor, activation: nn.Module, where: Tensor) -> Tensor:
    r"""Bracketed root finding for ELU and SELU.

    Above 0 both are the identity up to a factor, so the closed form of the identity bounds the
    solution from below; the shift that leaves no entry positive bounds it from above. A component
    without a rough part stays smooth above 0 and is bent below it: there the equation is
    :math:`-\langle \mathbf h, \mathbf e \rangle / \|\mathbf h\| = t`.

    Args:
        parts: the components
        target: t in [0, 1), or 1 in a constant component, whose alpha is then 0;
            shape: ``(m, d)``
        activation: ELU or SELU
        where: mask of the entries to solve; shape: ``(m, d)``

    Returns:
        alpha, 0 outside the mask; shape: ``(m, d)``
    """
    root_degree = parts.degree.sqrt()
    smooth = parts.constant
    reach = parts.deviation * target / (1 - target.square()).clamp_min(1e-300).sqrt()
    margin = 1e-3 * parts.deviation + 1e-12 * parts.mean.abs()
    low = torch.minimum(-reach, parts.minimum - parts.mean) - margin
    low = torch.where(smooth, 1e-9 / root_degree.max(), low)
    high = torch.where(smooth, 40 / root_degree.min(), parts.maximum - parts.mean + margin)
    sign = torch.where(smooth, -1.0, 1.0)
    centered = torch.where(parts.spread(smooth), 0, parts.x - parts.spread(parts.mean))
    tau = torch.zeros_like(parts.mean)  # counted from the mean

    def miss(candidate: Any, index: Any) -> Any:
        places = torch.from_numpy(index)
        tau.view(-1)[places] = torch.from_numpy(candidate)
        h = activation(root_degree * (centered - parts.spread(tau)))
        cosine = parts.sum(root_degree * h) / (parts.scale * parts.sum(h.square()).sqrt())
        return (sign * cosine - target).view(-1)[places].numpy()

    index = (where & (target < 1)).view(-1).nonzero().squeeze(1)
    alpha = torch.zeros_like(tau)
    if len(index):
        bracket = low.view(-1)[index].numpy(), high.view(-1)[index].numpy()
        found = find_root(miss, bracket, args=(index.numpy(),))
        if not found.success.all():
            raise GraphError(
                f"the root finder stopped early in {int((~found.success).sum())} of {len(index)} "
                "cases; scale the features to about 1, where ELU and SELU are not flat"
            )
        tau.view(-1)[index] = torch.from_numpy(found.x)
        alpha.view(-1)[index] = (parts.scale * (parts.mean + tau)).view(-1)[index]
    return alpha
