"""What a model is trained on, checked once at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split, check_split
from graphsct.errors import DataError, ModelError
from graphsct.graph.cache import graph_of

__all__ = ["Blind", "Problem", "count_splits", "read_edges", "read_features"]

_PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Blind:
    """What training may look at: features, edges, labels and two masks, but no test nodes.

    Args:
        x: features, dense or sparse CSR; shape: ``(n, d)``
        edges: what a model takes after the features: a graph, or ``edge_index`` and perhaps
            ``edge_weight``
        y: labels, -1 for none; shape: ``(n,)``
        train: mask; shape: ``(n,)``
        val: mask; shape: ``(n,)``
        name: of the data
    """

    x: Tensor
    edges: tuple[Any, ...]
    y: Tensor
    train: Tensor
    val: Tensor
    name: str

    def check_scores(self, scores: Any) -> None:
        """Refuse the output of a model that cannot be scores of these labels."""
        n = len(self.y)
        if not isinstance(scores, Tensor) or scores.dim() != 2 or len(scores) != n:
            what = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            raise ModelError(f"the model returned {what}, expected scores of shape ({n}, classes)")
        wrong = (self._used() & (self.y >= scores.shape[1])).nonzero()
        if len(wrong):
            node = int(wrong[0])
            raise DataError(
                f"{self.name}: node {node} has the label {int(self.y[node])}, but the model has "
                f"the classes 0 .. {scores.shape[1] - 1}, and so do {len(wrong) - 1} others; build "
                f"it with out_channels={int(self.y.max()) + 1}, or mend the labels"
            )

    def _used(self) -> Tensor:
        return self.train | self.val


@dataclass(frozen=True)
class Problem(Blind):
    """The same with one whole split.

    Args:
        split: three masks; shape of each: ``(n,)``
    """

    split: Split

    @classmethod
    def of(cls, data: Any, split: int | Split | None = None, *, plain: bool = False) -> Problem:
        """Read a ``Data``, or refuse it.

        Args:
            data: with ``x``, ``y``, ``graph`` or ``edge_index``, and masks
            split: the number of one of the data's splits, or masks of your own; if left out,
                ``train_mask``, ``val_mask`` and ``test_mask``
            plain: dense features and an ``edge_index``, which any model takes, even where the
                data have sparse features and a graph
        """
        name = str(getattr(data, "name", None) or "the data")
        x, y = read_features(data, name), _labels(data, name)
        if len(x) != len(y):
            raise DataError(f"{name}: there are features of {len(x)} nodes, labels of {len(y)}")
        masks = _masks(data, split, name)
        where = f"split {split} of {name}" if isinstance(split, int) else f"the split of {name}"
        check_split(masks, y, every_class=False, where=where)
        dense = x.to_dense() if plain and x.layout != torch.strided else x
        edges = read_edges(data, name, plain)
        return cls(dense, edges, y, masks.train, masks.val, name, masks)

    def blind(self) -> Blind:
        """What is left when the test nodes and all labels but those of the two masks are gone."""
        y = torch.where(super()._used(), self.y, -1)
        return Blind(self.x, self.edges, y, self.train, self.val, self.name)

    def _used(self) -> Tensor:
        return super()._used() | self.split.test


def count_splits(data: Any) -> int:
    """How many splits some data have."""
    splits, mask = getattr(data, "splits", None), getattr(data, "train_mask", None)
    if splits:
        return len(splits)
    return mask.shape[1] if isinstance(mask, Tensor) and mask.dim() == 2 else 1


def read_features(data: Any, name: str) -> Tensor:
    """The features of a ``Data``, refused if they are no finite numbers; shape: ``(n, d)``."""
    x = getattr(data, "x", None)
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise DataError(f"{name}: the features x are {what}, expected a float tensor (n, d)")
    values = x if x.layout == torch.strided else x.values()
    bad = (~torch.isfinite(values)).nonzero()
    if len(bad):
        place = bad[0].tolist()
        if x.layout == torch.sparse_csr:
            row = int(torch.searchsorted(x.crow_indices(), place[0], right=True)) - 1
            place = [row, int(x.col_indices()[place[0]])]
        raise DataError(
            f"{name}: feature {place[1]} of node {place[0]} is {values[tuple(bad[0])].item()}, and "
            f"{len(bad) - 1} others are not finite either; replace them, for example by zero"
        )
    return x


def _labels(data: Any, name: str) -> Tensor:
    y = getattr(data, "y", None)
    if not isinstance(y, Tensor) or y.dim() != 1 or y.dtype != torch.long:
        what = f"{y.dtype} {tuple(y.shape)}" if isinstance(y, Tensor) else type(y).__name__
        raise DataError(f"{name}: the labels y are {what}, expected a torch.long tensor (n,)")
    return y


def _masks(data: Any, split: Any, name: str) -> Split:
    if isinstance(split, tuple):
        masks = Split(*split)
    elif isinstance(split, int) and getattr(data, "splits", None):
        if not 0 <= split < len(data.splits):
            raise DataError(f"{name} has {len(data.splits)} splits; {split} is not among them")
        masks = data.splits[split]
    else:
        named: list[Any] = [getattr(data, f"{part}_mask", None) for part in _PARTS]
        if split is not None:
            named = [_column(mask, split, name) for mask in named]
        masks = Split(*named)
    for part, mask in zip(_PARTS, masks, strict=True):
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            what = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise DataError(f"{name}: the {part} mask is {what}, expected a torch.bool tensor (n,)")
        if mask.dim() == 2:
            raise DataError(f"{name} has {mask.shape[1]} splits; choose one with split=0, 1, ...")
    return masks


def _column(mask: Any, split: int, name: str) -> Tensor:
    count = mask.shape[1] if isinstance(mask, Tensor) and mask.dim() == 2 else 0
    if not 0 <= split < count:
        raise DataError(f"{name} has {count} numbered splits; {split} is not among them")
    column: Tensor = mask[:, split]
    return column


def read_edges(data: Any, name: str, plain: bool) -> tuple[Any, ...]:
    """What a model takes after the features of a ``Data``; the arguments are those of `Problem`."""
    edge_index, weight = getattr(data, "edge_index", None), getattr(data, "edge_weight", None)
    if (edge_index is None or not plain) and getattr(data, "graph", None) is not None:
        return (graph_of(data),)
    if edge_index is None:
        raise DataError(f"{name} has neither a graph nor an edge_index")
    return (edge_index,) if weight is None else (edge_index, weight)
