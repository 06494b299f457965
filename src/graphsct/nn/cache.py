"""What was computed from a tensor, kept while that tensor lives unchanged."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from graphsct.errors import GraphError
from graphsct.graph import Graph

__all__ = ["Memory", "as_graph"]

T = TypeVar("T")


class _Entry(NamedTuple):
    others: tuple[Any, ...]
    stamp: Hashable
    value: Any


class Memory(Generic[T]):
    """Values by the tensors they came from, held weakly.

    A value is dropped with its first tensor, and made anew if a tensor was changed in place, if
    another one takes the place of the second, or if the tag differs. It must not hold its first
    tensor, or neither will ever go.
    """

    def __init__(self) -> None:
        self._kept = WeakTensorKeyDictionary()

    def recall(
        self, tensors: tuple[Tensor, ...], build: Callable[[], T], tag: Hashable = None
    ) -> T:
        """The value of these tensors, from memory if it is there."""
        if any(tensor.is_inference() for tensor in tensors):  # these do not count their changes
            return build()
        entry: _Entry | None = self._kept.get(tensors[0])  # type: ignore[no-untyped-call]
        if entry is None or entry.stamp != _stamp(tensors, tag) or not _same(entry, tensors):
            return self.remember(tensors, build(), tag)
        value: T = entry.value
        return value

    def remember(self, tensors: tuple[Tensor, ...], value: T, tag: Hashable = None) -> T:
        """Keep a value that is already there."""
        if not any(tensor.is_inference() for tensor in tensors):
            others = tuple(weakref.ref(tensor) for tensor in tensors[1:])
            self._kept[tensors[0]] = _Entry(others, _stamp(tensors, tag), value)
        return value


def _same(entry: _Entry, tensors: tuple[Tensor, ...]) -> bool:
    return all(old() is new for old, new in zip(entry.others, tensors[1:], strict=True))


def _stamp(tensors: tuple[Tensor, ...], tag: Hashable) -> Hashable:
    return (tag, *(tensor._version for tensor in tensors))


_GRAPHS: Memory[Graph] = Memory()


@torch.compiler.disable  # type: ignore[untyped-decorator]
def as_graph(edges: Any, edge_weight: Any, x: Any) -> Graph:
    """The graph that features ``x`` live on.

    Built from an ``edge_index`` tensor once, and reused by every layer and model while it is the
    same tensor, unchanged. A change behind PyTorch's back, through ``.data`` or NumPy, is not seen.

    Args:
        edges: a :class:`~graphsct.Graph` or an ``edge_index``
        edge_weight: weights of an ``edge_index``, ``None`` for a graph
        x: the features, which give the number of nodes, the dtype and the device
    """
    if isinstance(edges, Graph):
        if edge_weight is not None:
            raise GraphError(
                "edge_weight was given with a Graph, which has its weights already; "
                "pass them to Graph(edge_index, edge_weight=...)"
            )
        return edges
    if not isinstance(x, Tensor) or x.dim() != 2:
        what = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise GraphError(f"features are {what}, expected a torch.Tensor (n, d)")

    def build() -> Graph:
        return Graph(edges, x.shape[0], edge_weight, dtype=x.dtype, device=x.device)

    tensors = (edges,) if edge_weight is None else (edge_weight, edges)
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        return build()
    return _GRAPHS.recall(tensors, build, tag=(x.shape[0], x.dtype, x.device))
