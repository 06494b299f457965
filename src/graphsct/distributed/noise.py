"""Dropout by the random numbers that one process alone would draw.

So a run is the same for any number of processes, and for any partition. The price is that every
process draws the numbers of all nodes and forgets those of others, which no larger number of
processes makes less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphsct.distributed.part import Part
from graphsct.nn import GCN, GCNII, EnergeticGNN
from graphsct.nn.dropout import Lanes, Rate

__all__ = ["SharedNoise", "plan"]

_BLOCK = 1 << 22  # lanes that are drawn at once


class Mask(NamedTuple):
    """What one call of dropout drops.

    Args:
        rows: of this process that are looked at, all if ``None``; shape: ``(r,)``
        places: of these rows in the whole, ascending; shape: ``(r,)``
        total: rows of the whole
    """

    rows: Tensor | None
    places: Tensor
    total: int


class SharedNoise:
    """A :class:`~graphsct.nn.dropout.Noise` for :attr:`Graph.noise <graphsct.Graph.noise>`.

    Args:
        masks: of an epoch, in order
        apart: begin each mask with a seed of its own, not each epoch
    """

    def __init__(self, masks: Sequence[Mask], *, apart: bool) -> None:
        self._masks, self._apart = list(masks), apart
        self._stream = Lanes()
        self._next = 0

    def begin(self) -> None:
        """Begin an epoch."""
        self._next = 0
        if self._masks and not self._apart:
            self._stream.reseed()

    def lanes(self, shape: torch.Size, rate: Rate) -> Tensor:
        """The lanes of the next mask; rows that nobody looks at have lanes of zero."""
        rows, places, count = self._masks[self._next]
        self._next += 1
        if self._apart:
            self._stream.reseed()
        width = shape[1] if len(shape) == 2 else 1
        own = _pick(self._stream, rate, places.numpy(), count, width).view(len(places), *shape[1:])
        if rows is None:
            return own
        return own.new_zeros(shape).index_copy_(0, rows, own)


def _pick(stream: Lanes, rate: Rate, places: np.ndarray, count: int, width: int) -> Tensor:
    """Some rows of all lanes, which are drawn block by block; shape: ``(r, width)``."""
    kind = np.dtype(f"int{rate.bits}")
    picked = np.empty((len(places), width), dtype=kind)
    block = max(64, _BLOCK // width // 64 * 64)  # whole words, so that blocks leave no gaps
    for start in range(0, count, block):
        rows = min(block, count - start)
        drawn = stream.words(rate.words(rows * width)).view(kind)[: rows * width]
        first, last = np.searchsorted(places, [start, start + rows])
        picked[first:last] = drawn.reshape(rows, width)[places[first:last] - start]
    return torch.from_numpy(picked)


def plan(model: GCN | GCNII | EnergeticGNN, part: Part, split: int, *, engine: bool) -> SharedNoise:
    """The noise of a model of ours on a part, as :func:`graphsct.fit` has it on the whole.

    Args:
        model: of :mod:`graphsct.nn`
        part: what this process has
        split: number of the split
        engine: whether one process would train it by the
            :class:`~graphsct.engine.engine.Engine`, which seeds an epoch once and looks at the
            training nodes alone in the last linear layer
    """
    nodes, n = part.graph.nodes, part.layout.nodes
    everywhere = Mask(None, nodes, n)
    first, last = everywhere, everywhere
    if part.entries is not None:
        first = Mask(None, part.entries, part.layout.values or 0)
    if engine:
        train = part.splits[split].train.cpu()
        rows = train.nonzero()[:, 0]
        last = Mask(rows, part.order[split][rows], part.layout.train[split])
    masks = [first] * bool(model.dropout)
    masks += [everywhere] * model.num_layers * bool(model.conv_dropout)
    masks += [last] * bool(model.dropout)
    return SharedNoise(masks, apart=not engine)
