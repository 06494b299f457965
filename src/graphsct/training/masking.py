"""Dropout of k runs, each with its own random numbers and perhaps its own rate."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from graphsct.dropout import Lanes, Rate

__all__ = ["Masking"]

_threshold = torch.ops.aten.threshold_backward.grad_input


class Masking:
    """Drops entries in one pass, and leaves their scale to the product that follows.

    It is false if nothing is ever dropped.

    Args:
        rates: of each run
    """

    def __init__(self, rates: Sequence[float]) -> None:
        self.rates = [Rate(p) for p in rates]
        self.streams: list[Lanes] = []
        self.scales = [1 / rate.keep for rate in self.rates]
        self.alike = len(set(rates)) == 1
        thresholds = [rate.threshold for rate in self.rates]
        self._threshold = thresholds[0] if self.alike else 0.0
        self._thresholds = torch.tensor(thresholds, dtype=torch.float64).view(-1, 1)
        self._scales = torch.tensor(self.scales, dtype=torch.float64).view(-1, 1)

    def __bool__(self) -> bool:
        return any(rate.p > 0 for rate in self.rates)

    @property
    def scale(self) -> float:
        """What is still to be multiplied by after :meth:`draw`."""
        return self.scales[0] if self.alike else 1.0

    def draw(
        self, x: Tensor, noise: Tensor, out: Tensor, rows: Sequence[Tensor] | None = None
    ) -> Tensor:
        """Drop entries of ``x``.

        Args:
            x: shape: ``(n, k d)``
            noise: where to write the random numbers, for :meth:`apply`; shape: ``(n, k d)``
            out: where to write the result, which may be ``x`` itself; shape: ``(n, k d)``
            rows: those that each run looks at, if they differ; no others get new numbers, so that
                a run uses as many as it would alone
        """
        apart = noise.view(noise.shape[0], len(self.rates), -1)
        d = apart.shape[2]
        for run, (stream, rate) in enumerate(zip(self.streams, self.rates, strict=True)):
            count = noise.shape[0] if rows is None else rows[run].shape[0]
            lanes = stream.draw(count * d, rate).view(count, d)
            if rows is None:
                apart[:, run].copy_(lanes)
            else:
                apart[:, run].index_copy_(0, rows[run], lanes.to(noise.dtype))
        if not self.alike:
            apart.sub_(self._thresholds.to(noise.dtype))
        return self.apply(x, noise, out)

    def apply(self, x: Tensor, noise: Tensor, out: Tensor) -> Tensor:
        """Drop what was dropped with this noise: the gradient of :meth:`draw`."""
        _threshold(x, noise, self._threshold, grad_input=out)
        return self.rescale(out)

    def rescale(self, x: Tensor) -> Tensor:
        """Multiply by the scales in place if runs differ in them; shape: ``(n, k d)``."""
        if not self.alike:
            x.view(x.shape[0], len(self.rates), -1).mul_(self._scales.to(x.dtype))
        return x

    def draw_run(self, run: int, x: Tensor, out: Tensor) -> float:
        """Drop entries for one run alone and tell its scale; any shape."""
        rate = self.rates[run]
        noise = self.streams[run].draw(x.numel(), rate).view(x.shape).to(x.dtype)
        _threshold(x, noise, rate.threshold, grad_input=out)
        return self.scales[run]

    def draw_values(self, values: Tensor, noise: Tensor, out: Tensor) -> float:
        """Drop values of k sparse matrices, one behind the other, and tell their scale.

        Args:
            values: shape: ``(k * entries,)``
            noise: room for random numbers; shape: ``(k * entries,)``
            out: where to write; shape: ``(k * entries,)``
        """
        k = len(self.rates)
        parts = noise.view(k, -1)
        for part, stream, rate in zip(parts, self.streams, self.rates, strict=True):
            part.copy_(stream.draw(part.shape[0], rate))
        if not self.alike:
            parts.sub_(self._thresholds.to(noise.dtype))
        _threshold(values, noise, self._threshold, grad_input=out)
        if not self.alike:
            out.view(k, -1).mul_(self._scales.to(out.dtype))
        return self.scale
