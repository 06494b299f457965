"""Dropout of k runs, each with its own random numbers and perhaps its own rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from graphsct.engine.dense_kernel import threshold
from graphsct.engine.elementwise import Relu
from graphsct.engine.program import Program, apart
from graphsct.engine.tape import Node
from graphsct.nn.dropout import Lanes, Rate

__all__ = ["Dropout", "Masking", "Noise"]

#: Up to this many words per run and epoch are drawn in one call.
_FEW = 1 << 15


class Noise:
    """The random words of all dropout in an epoch; each run gets the words it would get alone.

    Args:
        generators: one per run, which seeds every epoch; PyTorch's own if ``None``
        words: number of 64-bit words that each mask of an epoch takes, in order, for each run
    """

    def __init__(
        self, generators: Sequence[torch.Generator | None], words: Sequence[Sequence[int]]
    ) -> None:
        self._streams = [Lanes(generator) for generator in generators]
        self._words, self._next = list(words), [0] * len(generators)
        k = len(generators)
        self._totals = [sum(mask[run] for mask in words) for run in range(k)]
        self._at_once = max(self._totals) <= _FEW
        size = max(self._totals) if self._at_once else max(map(max, words))
        self._room = torch.zeros(k, size, dtype=torch.int64)
        self._views: list[np.ndarray] = [row.numpy().view(np.uint64) for row in self._room]

    def take(self, do: Program) -> Sequence[Tensor]:
        """The words of each run for the next mask, new in each epoch; shapes: ``(words,)``.

        The result is one tensor if all runs read the same places, else a list.
        """
        counts, starts = self._words.pop(0), self._next
        if not self._at_once:
            do(self._fill, counts)
            starts = [0] * len(counts)
        self._next = [start + count for start, count in zip(starts, counts, strict=True)]
        if len(set(counts)) == len(set(starts)) == 1:
            return self._room[:, starts[0] : starts[0] + counts[0]]  # type: ignore[return-value]
        places = zip(self._room, starts, counts, strict=True)
        return [row[start : start + count] for row, start, count in places]

    def begin(self) -> None:
        """Begin an epoch."""
        if self._room.numel():
            for stream in self._streams:
                stream.reseed()
            if self._at_once:
                self._fill(self._totals)

    def _fill(self, counts: Sequence[int]) -> None:
        for stream, view, count in zip(self._streams, self._views, counts, strict=True):
            view[:count] = stream.words(count)


class Masking:
    """Drops entries in one pass; the product that follows multiplies by :attr:`scale`.

    It is false if all rates are 0.

    Args:
        rates: the rate of each run
    """

    def __init__(self, rates: Sequence[float]) -> None:
        self.rates = [Rate(p) for p in rates]
        self.scales = [1 / rate.keep for rate in self.rates]
        self.alike = len(set(rates)) == 1
        thresholds = [rate.threshold for rate in self.rates]
        self._threshold = thresholds[0] if self.alike else 0.0
        self._thresholds = torch.tensor(thresholds, dtype=torch.float64)
        self._scales = torch.tensor(self.scales, dtype=torch.float64)

    def __bool__(self) -> bool:
        return any(rate.p > 0 for rate in self.rates)

    @property
    def scale(self) -> float:
        """The factor that is missing after :meth:`apply` and :meth:`rescale`."""
        return self.scales[0] if self.alike else 1.0

    def words(self, count: int) -> list[int]:
        """Number of words that a mask of ``count`` entries takes, for each run."""
        return [rate.words(count) for rate in self.rates]

    def numbers(
        self, do: Program, words: Sequence[Tensor], out: Tensor, order: Tensor | None = None
    ) -> None:
        """Random numbers that :meth:`apply` understands.

        Args:
            do: where to add the calls
            words: of :meth:`Noise.take`
            out: where to write; shape: ``(k, rows, ...)``, of any strides
            order: which of the drawn rows each row takes; shape: ``(rows,)`` or ``(k, rows)``
        """
        if order is not None:
            orders, shape = order.expand(len(out), -1), out.shape[2:]
            for rate, row, part, places in zip(self.rates, words, out, orders, strict=True):
                lanes = row.view(rate.dtype)
                rows = len(lanes) // max(1, shape.numel())
                drawn = rate.lanes(row, rows * shape.numel()).view(rows, *shape)
                taken = do.scratch("lanes", part.numel()).view(rate.dtype)[: part.numel()]
                taken = taken.view(part.shape)
                do(torch.index_select, drawn, 0, places, out=taken)
                do(part.copy_, taken)
        elif isinstance(words, Tensor) and len({rate.bits for rate in self.rates}) == 1:
            do(out.copy_, self.rates[0].lanes(words, out[0].numel()).view(out.shape))
        else:
            for rate, row, part in zip(self.rates, words, out, strict=True):
                do(part.copy_, rate.lanes(row, part.numel()).view(part.shape))
        if not self.alike:
            do(out.sub_, self._for_runs(self._thresholds, out))

    def apply(self, do: Program, x: Tensor, noise: Tensor, out: Tensor) -> None:
        """Drop entries of features or gradients by this noise; ``out`` may be ``x``; any shape."""
        do(threshold, x, noise, self._threshold, grad_input=out)

    def rescale(self, do: Program, runs: Tensor) -> None:
        """Multiply by the scales in place if runs differ in them; shape: ``(k, ...)``."""
        if not self.alike:
            do(runs.mul_, self._for_runs(self._scales, runs))

    def _for_runs(self, numbers: Tensor, like: Tensor) -> Tensor:
        return numbers.to(like.dtype).view(-1, *[1] * (like.dim() - 1))


class Dropout(Node):
    """Dropout of features.

    After ReLU, the signs of the output determine the gradient, so no mask is kept.

    Args:
        x: the features
        masking: the rates of all runs
        at_output: draw random numbers for the rows of training nodes only
    """

    def __init__(self, x: Node, masking: Masking, *, at_output: bool) -> None:
        super().__init__(x.tape, [x], x.width)
        self.masking, self._at_output = masking, at_output

    @property
    def stops_at_zero(self) -> bool:  # type: ignore[override]
        """After ReLU: its zeros and the dropped entries get no gradient, so no mask is needed."""
        return isinstance(self.inputs[0], Relu)

    @property
    def overwrites(self) -> bool:  # type: ignore[override]
        """Only the output of ReLU is overwritten."""
        return self.stops_at_zero

    @property
    def keeps_output(self) -> bool:
        return self.stops_at_zero

    def prepare(self) -> None:
        """Leave the scale to the consumers if all can multiply by it."""
        folded = all(consumer.folds_scale(self) for consumer in self.consumers)
        self.scale = self.masking.scale if folded else 1.0

    @property
    def words(self) -> list[int]:
        """How many random words the mask takes in each run."""
        rows = self.count if self._at_output else self.tape.workspace.graph.num_nodes
        return self.masking.words(rows * self.width)

    @property
    def _order(self) -> Tensor | None:
        """Where the rows find their random numbers, ``None`` if in order."""
        order = self.tape.orders[self._at_output]
        if self._at_output or self.nodes is None:
            return order
        return self.nodes if order is None else order[self.nodes]

    def forward(self, do: Program) -> None:
        k, shape = self.tape.k, (self.count, self.tape.k * self.width)
        kept = self.tape.training and not self.stops_at_zero
        self._noise = do.arena.take(*shape) if kept else do.scratch("noise", *shape)
        self._draw(do, apart(self._noise, k))
        self.masking.apply(do, self.inputs[0].head, self._noise, self.head)
        self._rescale(do, self.head)

    def _draw(self, do: Program, noise: Tensor) -> None:
        words = self.tape.noise.take(do)
        self.masking.numbers(do, words, noise, self._order)

    def _rescale(self, do: Program, array: Tensor) -> None:
        self.masking.rescale(do, apart(array, self.tape.k))
        if self.masking.scale != self.scale:
            do(array.mul_, self.masking.scale)

    def backward(self, do: Program) -> None:
        """Drop the same entries of the gradient."""
        grad = self.gradient
        if self.stops_at_zero:
            do(threshold, grad, self.head, 0, grad_input=grad)
        else:
            self.masking.apply(do, grad, self._noise, grad)
            do.arena.release(self._noise)
        self._rescale(do, grad)
        self.inputs[0].take_grad(do, self)
