r"""The first layer of k runs, :math:`\mathbf X \mathbf W + \mathbf b`, with dropout of features.

Bags of words stay sparse. Each run drops different words, so the k matrices are the diagonal blocks
of one sparse matrix, of which only the values change from epoch to epoch.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.dropout import Masking
from graphsct.engine.neighbourhood import Rows
from graphsct.engine.operators import take_rows
from graphsct.engine.program import Program, apart
from graphsct.engine.tape import Node, Tape, Unsupported
from graphsct.engine.weights import Weight

__all__ = ["Data", "DroppedData", "Features"]


class Features:
    """The features of the data for k runs.

    Args:
        x: dense or sparse CSR; shape: ``(n, f)``
        k: number of runs
        order: index of the random numbers that each row (dense) or each entry (sparse) takes;
            ``None`` if in order
        drawn: number of random numbers drawn; defaults to the number of entries
    """

    def __init__(
        self, x: Tensor, k: int, order: Tensor | None = None, drawn: int | None = None
    ) -> None:
        self.x, self.k, self.order = x, k, order
        self.sparse = x.layout == torch.sparse_csr
        #: Number of entries that dropout may drop in each run.
        self.entries = len(x.values()) if self.sparse else x.numel()
        self.drawn = self.entries if drawn is None else drawn
        self._parts: dict[int, tuple[Features, Tensor]] = {}

    def at(self, nodes: Tensor | None) -> Features:
        """The features of some nodes, which take their own random numbers; shape: ``(r,)``."""
        if nodes is None:
            return self
        if id(nodes) not in self._parts:
            x, places = take_rows(self.x, nodes) if self.sparse else (self.x[nodes], nodes)
            order = places if self.order is None else self.order[places]
            self._parts[id(nodes)] = Features(x, self.k, order, self.drawn), nodes
        return self._parts[id(nodes)][0]

    @cached_property
    def blocks(self) -> Blocks:
        """The matrices of sparse features, made at first use."""
        return Blocks(self.x, self.k)


class Blocks:
    """Sparse features of k runs as blocks on a diagonal.

    Args:
        x: sparse CSR; shape: ``(n, f)``
        k: number of runs
    """

    def __init__(self, x: Tensor, k: int) -> None:
        n, f = x.shape
        entries = len(x.values())
        starts, columns = x.crow_indices().long(), x.col_indices().long()
        order = torch.argsort(columns, stable=True)  # of the transpose
        rows = torch.arange(n).repeat_interleave(starts.diff())
        back_starts = starts.new_zeros(f + 1)
        torch.cumsum(torch.bincount(columns, minlength=f), 0, out=back_starts[1:])
        self.full = x.values().repeat(k)
        self.values = self.full.clone()
        self.order = _repeat(order, k, entries)
        self.back_values = self.full[self.order]
        self.matrix, self.dropped = (
            _blocks(starts, columns, values, k, (n, f)) for values in (self.full, self.values)
        )
        self.back = _blocks(back_starts, rows[order], self.back_values, k, (f, n))


class Data(Node):
    """The features of the data as they are.

    Args:
        tape: the tape
        features: of k runs
    """

    unreadable = "an operation on the data that is neither dropout nor a linear layer"

    def __init__(self, tape: Tape, features: Features) -> None:
        super().__init__(tape, [], features.x.shape[1])
        self._features = features
        self._is_dropped, self._layers = False, list[SparseLayer]()

    @property
    def features(self) -> Features:
        """The features of the nodes at which the layers are computed."""
        return self._features.at(self.tape.neighbourhood.nodes(self.needed))

    @property
    def needed(self) -> Rows:
        """The rows that the layers read, which all layers share."""
        return max(layer.rows for layer in self._layers)

    def allocate(self, do: Program) -> None:
        """The data have their arrays."""

    def release(self, do: Program) -> None:
        """The data keep their arrays."""

    @property
    def has_one_layer(self) -> bool:
        """Whether only one layer reads the data."""
        return len(self._layers) == 1

    def drop(self, masking: Masking) -> DroppedData:
        """Record dropout; the data have room for one mask."""
        if self._is_dropped or self._layers:
            raise Unsupported("the data with and without dropout, or with several masks")
        self._is_dropped = True
        return DroppedData(self, masking)

    def layer(self, weight: Weight, bias: Weight | None) -> Node:
        """Record a linear layer."""
        if self._is_dropped:
            raise Unsupported("the data with and without dropout")
        kind = SparseLayer if self._features.sparse else DenseLayer
        self._layers.append(kind(self, weight, bias))
        return self._layers[-1]


class DroppedData(Data):
    """The features of the data with some entries dropped, to be multiplied by ``scale``.

    Args:
        data: the features
        masking: the rates of all runs
    """

    def __init__(self, data: Data, masking: Masking) -> None:
        super().__init__(data.tape, data._features)
        self.masking = masking

    def drop(self, masking: Masking) -> DroppedData:
        """Refuse a second mask."""
        raise Unsupported("dropout of data that are dropped already")

    @property
    def words(self) -> list[int]:
        """How many random words the mask takes in each run."""
        return self.masking.words(self._features.drawn)

    def forward(self, do: Program) -> None:
        features, k = self.features, self.features.k
        words = self.tape.noise.take(do)
        if features.sparse:
            noise = do.scratch("input", k, features.entries)
            self.masking.numbers(do, words, noise, features.order)
            blocks = features.blocks
            self.masking.apply(do, blocks.full, noise.view(-1), blocks.values)
            self.masking.rescale(do, blocks.values.view(k, -1))
        else:
            noise = do.scratch("input", k, *features.x.shape)
            self.masking.numbers(do, words, noise, features.order)
            self.seen = do.scratch("seen", k, *features.x.shape)
            for part, dropped in zip(noise, self.seen, strict=True):
                self.masking.apply(do, features.x, part, dropped)


class SparseLayer(Node):
    """The linear layer of sparse features.

    Args:
        data: the features, perhaps dropped
        weight: shape: ``(k, f, d)``
        bias: or none; shape: ``(k, d)``
    """

    rowwise = False

    def __init__(self, data: Data, weight: Weight, bias: Weight | None) -> None:
        super().__init__(data.tape, [], weight.value.shape[2])
        self.inputs = (data,)  # set here, as no other node may read the data
        self.weight, self.bias, self._data = weight, bias, data

    @property
    def can_have_some(self) -> bool:
        """Only if no other layer reads the data."""
        return self._data.has_one_layer

    @property
    def _masking(self) -> Masking | None:
        return getattr(self._data, "masking", None)

    @property
    def _scale(self) -> float:
        return self._masking.scale if self._masking else 1.0

    def forward(self, do: Program) -> None:
        blocks = self._data.features.blocks
        matrix = blocks.dropped if self._masking else blocks.matrix
        k, d = self.tape.k, self.width
        weight, out = self.weight.value.view(-1, d), self.head
        if k == 1:
            start, beta = (out, 0) if self.bias is None else (self.bias.value, 1)
            do(torch.addmm, start, matrix, weight, beta=beta, alpha=self._scale, out=out)
            return
        product = do.scratch("input product", k * self.count, d)
        do(torch.addmm, product, matrix, weight, beta=0, alpha=self._scale, out=product)
        runs = product.view(k, self.count, d)
        if self.bias is None:
            do(apart(out, k).copy_, runs)
        else:
            do(torch.add, runs, self.bias.value.unsqueeze(1), out=apart(out, k))

    def backward(self, do: Program) -> None:
        """One sparse product with the transpose."""
        blocks, k, d, grad = self._data.features.blocks, self.tape.k, self.width, self.gradient
        if self.bias is not None:
            with self.bias.write_grad(do) as out:
                do(torch.sum, grad, dim=0, out=out.view(-1))
        if self._masking:
            do(torch.index_select, blocks.values, 0, blocks.order, out=blocks.back_values)
        if k > 1:
            product = do.scratch("input product", k * self.count, d)
            do(product.view(k, self.count, d).copy_, apart(grad, k))
            grad = product
        with self.weight.write_grad(do) as out:
            out = out.view(-1, d)
            do(torch.addmm, out, blocks.back, grad, beta=0, alpha=self._scale, out=out)


class DenseLayer(SparseLayer):
    """The linear layer of dense features."""

    def _runs(self) -> list[tuple[Tensor, float]]:
        """The features of each run, and their scale."""
        data: Any = self._data
        if self._masking is None:
            return [(data.features.x, 1.0)] * self.tape.k
        return list(zip(data.seen, self._masking.scales, strict=True))

    def forward(self, do: Program) -> None:
        outs = apart(self.head, self.tape.k)
        for run, (x, scale) in enumerate(self._runs()):
            start, beta = (outs[run], 0) if self.bias is None else (self.bias.value[run], 1)
            do(torch.addmm, start, x, self.weight.value[run], beta=beta, alpha=scale, out=outs[run])

    def backward(self, do: Program) -> None:
        if self.bias is not None:
            with self.bias.write_grad(do) as out:
                do(torch.sum, self.gradient, dim=0, out=out.view(-1))
        grads = apart(self.gradient, self.tape.k)
        with self.weight.write_grad(do) as out:
            for run, (x, scale) in enumerate(self._runs()):
                own = out[run]
                do(torch.addmm, own, x.t(), grads[run], beta=0, alpha=scale, out=own)


def _repeat(numbers: Tensor, k: int, step: int) -> Tensor:
    """``numbers``, ``numbers + step``, ..., k times."""
    return (numbers + step * torch.arange(k).unsqueeze(1)).flatten()


def _blocks(starts: Tensor, columns: Tensor, values: Tensor, k: int, size: Any) -> Tensor:
    """A matrix with k diagonal blocks of one pattern; its values share memory with ``values``."""
    entries = len(columns)
    index = torch.int32 if max(k * entries, k * max(size)) < 2**31 else torch.int64
    all_starts = torch.cat([starts[:1], _repeat(starts[1:], k, entries)])
    return torch.sparse_csr_tensor(
        all_starts.to(index),
        _repeat(columns, k, size[1]).to(index),
        values,
        size=(k * size[0], k * size[1]),
        check_invariants=False,
    )
