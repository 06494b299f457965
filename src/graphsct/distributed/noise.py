"""Dropout by the random numbers that one process alone would draw.

So a run is the same for any number of processes and any partition. The price: every process draws
the numbers of all nodes, a cost that more processes do not reduce.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphsct.distributed.part import Part
from graphsct.nn.dropout import Kind, Lanes, Masks, Rate

__all__ = ["SharedMasks"]

_BLOCK = 1 << 22  # lanes that are drawn at once


class _Rows(NamedTuple):
    """The rows of a mask that this process needs.

    Args:
        places: positions of these rows in the whole mask, ascending; shape: ``(r,)``
        total: number of rows of the whole
        own: their positions in this process, ``None`` for all in their order; shape: ``(r,)``
    """

    places: Tensor
    total: int
    own: Tensor | None

    @classmethod
    def of(cls, places: Tensor, total: int, own: Tensor | None = None) -> _Rows:
        """Rows in any order."""
        places, order = places.sort()
        if own is not None:
            return cls(places, total, own[order])
        kept = order.equal(torch.arange(len(order)))
        return cls(places, total, None if kept else order)


class SharedMasks(Masks):
    """The masks of one process: its rows of those that one process alone would draw.

    Args:
        generator: generator with the same seed in all processes
        part: part of this process
        split: number of the split
    """

    def __init__(self, generator: torch.Generator, part: Part, split: int) -> None:
        train = part.splits[split].train.cpu()
        super().__init__(generator, train)
        rows, nodes = train.nonzero()[:, 0], part.graph.nodes
        entries = nodes if part.entries is None else part.entries
        self._needed: dict[Kind, _Rows] = {
            "values": _Rows.of(entries, part.layout.values or 0),
            "nodes": _Rows.of(nodes, part.layout.nodes),
            "output": _Rows.of(part.order[split][rows], part.layout.train[split], rows),
        }

    def draw(self, stream: Lanes, shape: torch.Size, rate: Rate, kind: Kind) -> Tensor:
        """Take the lanes of all processes from the stream, and keep those of this one."""
        places, total, rows = self._needed[kind]
        width = shape[1] if len(shape) == 2 else 1
        own = _pick(stream, rate, places.numpy(), total, width).view(len(places), *shape[1:])
        return own if rows is None else own.new_zeros(shape).index_copy_(0, rows, own)


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
