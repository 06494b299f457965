r"""Dropout whose random numbers cost less than the product that follows.

PyTorch draws one number of double precision for each entry, which on a CPU takes over ten times
as long as a layer's matrix product. Here 64 random bits are cut into *lanes* of 8 bits, or of 16
where the rate is no multiple of 1/256, and an entry is kept if its lane is above a threshold.

The rate is thus rounded to a multiple of :math:`2^{-16}`, and what is kept is divided by the true
probability of being kept, so that the expectation is exact.

**The order of random numbers** on a CPU is defined here, by :class:`Masks`, and is the same for
every backend of training. Each step, which is an epoch or a mini-batch of a list of graphs, seeds
one stream from the generator of its run. Each mask then takes the next ``Rate.words(count)`` words
of the stream, in the order in which the forward pass asks for masks. A mask covers all entries of
its tensor, with one exception: before the output layer it covers only the rows of training nodes,
the only ones that reach the loss. In a mini-batch these are all rows.

**On any other device**, :class:`DeviceMasks` draws the lanes of each mask there, all entries of its
tensor, from a generator of the device that is seeded by the run. The same seed on the same device
gives the same masks, which differ from those on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from graphsct.graph import Graph
from graphsct.graph.graph import DTYPES

__all__ = ["DeviceMasks", "Kind", "Lanes", "Masks", "Rate", "drop_edges", "dropout", "make_masks"]

#: What a mask covers: the stored values of sparse features, one row per node, one row per node of
#: which only those of training nodes count, or one entry per undirected edge.
Kind = Literal["values", "nodes", "output", "edges"]

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
        self.dtype = torch.int8 if self.bits == 8 else torch.int16
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
        return words.view(self.dtype)[..., :count]

    def draw(
        self, shape: torch.Size, device: torch.device, generator: torch.Generator | None = None
    ) -> Tensor:
        """Random lanes on a device, from a generator of that device, by default PyTorch's own."""
        half = 1 << (self.bits - 1)
        lanes = torch.empty(shape, dtype=self.dtype, device=device)
        return lanes.random_(-half, half, generator=generator)


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


class Masks:
    """The dropout masks of one run in training, in the order of the module's docstring.

    Args:
        generator: seeds every step
        train: mask of the run's training nodes, all nodes if left out; shape: ``(n,)``

    Example:
        >>> x, train = torch.ones(4, 2), torch.tensor([True, False, True, False])
        >>> masks = Masks(torch.Generator().manual_seed(0), train)
        >>> with masks.active():
        ...     first, second = dropout(x, 0.5), dropout(x, 0.5, kind="output")
    """

    def __init__(self, generator: torch.Generator, train: Tensor | None = None) -> None:
        self.generator = generator
        self._stream = Lanes(generator)
        self._fresh = False
        self._rows = None if train is None else train.nonzero()[:, 0].cpu()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Begin a step, in which :func:`dropout` draws from here."""
        self._fresh = True
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    def lanes(self, shape: torch.Size, rate: Rate, kind: Kind) -> Tensor:
        """The lanes of the next mask, of the given shape."""
        if self._fresh:  # a step without dropout leaves the generator alone
            self._stream.reseed()
            self._fresh = False
        return self.draw(self._stream, shape, rate, kind)

    def draw(self, stream: Lanes, shape: torch.Size, rate: Rate, kind: Kind) -> Tensor:
        """Take lanes from the stream; rows that do not count get lanes of zero."""
        if kind != "output" or self._rows is None:
            return _lanes(stream, shape, rate)
        own = _lanes(stream, torch.Size([len(self._rows), *shape[1:]]), rate)
        return own.new_zeros(shape).index_copy_(0, self._rows, own)


class DeviceMasks(Masks):
    """The dropout masks of one run, drawn on a device other than a CPU.

    Args:
        generator: generator of the device, which draws all masks
        train: mask of the run's training nodes; shape: ``(n,)``
    """

    def lanes(self, shape: torch.Size, rate: Rate, kind: Kind) -> Tensor:
        """The lanes of the next mask, of the given shape, on the device of the generator."""
        return rate.draw(shape, self.generator.device, self.generator)


def make_masks(generator: torch.Generator, train: Tensor | None = None) -> Masks:
    """The masks of one run on the device of a generator; the arguments are those of :class:`Masks`.

    Example:
        >>> type(make_masks(torch.Generator(), torch.ones(4, dtype=torch.bool))).__name__
        'Masks'
    """
    on_host = generator.device.type == "cpu"
    return (Masks if on_host else DeviceMasks)(generator, train)


_ACTIVE: ContextVar[Masks | None] = ContextVar("masks", default=None)


def _lanes(stream: Lanes, shape: torch.Size, rate: Rate) -> Tensor:
    count = shape.numel()
    words = torch.from_numpy(stream.words(rate.words(count)).view(np.int64))
    return rate.lanes(words, count).view(shape)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, lanes: Tensor, rate: Rate) -> Tensor:
        ctx.save_for_backward(lanes)
        ctx.rate = rate
        if x.dtype in DTYPES:
            kept: Tensor = _threshold(x, lanes.to(x.dtype), rate.threshold)
        else:  # 16 bits do not hold every lane as a number
            kept = torch.where(lanes > rate.threshold, x, 0)
        return kept.div_(rate.keep)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _Dropout.apply(grads[0], *ctx.saved_tensors, ctx.rate), None, None  # type: ignore[no-untyped-call]


@torch.compiler.disable  # type: ignore[untyped-decorator]
def dropout(x: Tensor, p: float, *, kind: Kind = "nodes") -> Tensor:
    """Set each entry to zero with probability ``p`` and scale up the others.

    The random numbers come from the active :class:`Masks`, or from PyTorch's generator if none are
    active, as in a training loop of your own.

    Args:
        x: dense, of any shape
        p: the rate, in [0, 1)
        kind: what the tensor holds; it decides how many numbers active masks draw
    """
    rate = Rate(p)
    lanes = _draw(x.shape, rate, kind, x.device)
    return _Dropout.apply(x, lanes.to(x.device), rate)  # type: ignore[no-any-return, no-untyped-call]


def _draw(shape: torch.Size, rate: Rate, kind: Kind, device: torch.device) -> Tensor:
    masks = _ACTIVE.get()
    if masks is not None:
        return masks.lanes(shape, rate, kind)
    if device.type != "cpu":
        return rate.draw(shape, device)
    return _lanes(Lanes().reseed(), shape, rate)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def drop_edges(graph: Graph, p: float, training: bool) -> Graph:
    """Leave each undirected edge out of the operator with probability ``p`` (DropEdge,
    `Rong et al., 2020 <https://arxiv.org/abs/1907.10903>`_).

    Degrees are those of the edges that are left; the eigenspace stays that of the whole graph.

    Args:
        graph: the graph
        p: the rate, in [0, 1)
        training: without it nothing is dropped
    """
    if not training or p == 0:
        return graph
    if has_torch_function_unary(graph):
        recorded: Graph = handle_torch_function(drop_edges, (graph,), graph, p, training)
        return recorded
    rate = Rate(p)
    lanes = _draw(torch.Size([graph.num_edges]), rate, "edges", graph.device)
    return graph.keep_edges((lanes > rate.threshold).to(graph.device))
