r"""Dropout whose random numbers cost less than the product that follows.

PyTorch draws one number of double precision for each entry, which on a CPU takes over ten times
as long as a layer's matrix product. Here 64 random bits are cut into *lanes* of 8 bits, or of 16
where the rate is no multiple of 1/256, and an entry is kept if its lane is above a threshold.

The rate is thus rounded to a multiple of :math:`2^{-16}`, and what is kept is divided by the true
probability of being kept, so that the expectation is exact.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import torch
from torch import Tensor

__all__ = ["Lanes", "Noise", "Rate", "dropout"]

_threshold = torch.ops.aten.threshold_backward


class Rate:
    """A rate of dropout in whole lanes.

    Args:
        p: probability to drop an entry, in [0, 1)

    Example:
        >>> Rate(0.5).keep, Rate(0.5).bits, Rate(0.1).bits
        (0.5, 8, 16)
    """

    def __init__(self, p: float) -> None:
        self.p = p
        self.bits = 8 if (p * 256).is_integer() else 16
        levels = 1 << self.bits
        dropped = min(round(p * levels), levels - 1)
        self.keep = 1 - dropped / levels
        #: A lane, a whole number from ``-levels / 2``, is kept above this.
        self.threshold = dropped - levels / 2 - 0.5

    def words(self, count: int) -> int:
        """How many words of 64 bits hold so many lanes, at least one."""
        return max(1, -(-count * self.bits // 64))

    def lanes(self, words: Tensor, count: int) -> Tensor:
        """The first lanes of words, int8 or int16; shapes: ``(..., words) -> (..., count)``."""
        kind = torch.int8 if self.bits == 8 else torch.int16
        return words.view(kind)[..., :count]


class Lanes:
    """A stream of random lanes, which begins with :meth:`reseed`.

    Args:
        generator: draws the seed; PyTorch's own if left out, so that ``torch.manual_seed`` decides
    """

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self._generator = generator
        self._bits = np.random.SFC64(0)
        self._state: Any = dict(self._bits.state)

    def reseed(self) -> Self:
        """Begin anew with a seed of three words."""
        words = torch.ones(4, dtype=torch.int64)  # the fourth is a counter
        words[:3].random_(generator=self._generator)
        self._state["state"] = {"state": words.numpy().view(np.uint64)}
        self._bits.state = self._state  # a third of the time of a new SFC64
        self._bits.random_raw(12)  # its seed is mixed after twelve rounds
        return self

    def words(self, count: int) -> np.ndarray:
        """Random words of 64 bits; shape: ``(count,)``."""
        words: np.ndarray = self._bits.random_raw(count)
        return words


class Noise(Protocol):
    """Another source of lanes than PyTorch's generator."""

    def lanes(self, shape: torch.Size, rate: Rate) -> Tensor:
        """The lanes of the next features to be dropped, of their shape."""


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, lanes: Tensor, rate: Rate) -> Tensor:
        ctx.save_for_backward(lanes)
        ctx.rate = rate
        kept: Tensor = _threshold(x, lanes.to(x.dtype), rate.threshold)
        return kept.div_(rate.keep)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _Dropout.apply(grads[0], *ctx.saved_tensors, ctx.rate), None, None  # type: ignore[no-untyped-call]


@torch.compiler.disable  # type: ignore[untyped-decorator]
def dropout(x: Tensor, p: float, noise: Noise | None = None) -> Tensor:
    """Set each entry to zero with probability ``p`` and scale up the others.

    Args:
        x: dense, of any shape
        p: the rate, in [0, 1)
        noise: where random numbers come from, if not from PyTorch's generator
    """
    rate = Rate(p)
    if noise is None:
        words = torch.from_numpy(Lanes().reseed().words(rate.words(x.numel())).view(np.int64))
        lanes = rate.lanes(words, x.numel()).view(x.shape)
    else:
        lanes = noise.lanes(x.shape, rate)
    return _Dropout.apply(x, lanes.to(x.device), rate)  # type: ignore[no-any-return, no-untyped-call]
