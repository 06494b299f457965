"""Graphs of edges, built once and kept while the edges are unchanged."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from graphsct.errors import DirectedGraphError, GraphError
from graphsct.graph.autocast import full_dtype
from graphsct.graph.graph import DTYPES, Graph, count_nodes

__all__ = ["TensorCache", "as_graph", "current_graph", "graph_of", "keep_graph", "kept_graph"]

T = TypeVar("T")


class _Entry(NamedTuple):
    others: tuple[Any, ...]
    versions: tuple[int, ...]
    values: dict[Hashable, Any]


class TensorCache(Generic[T]):
    """Values computed from tensors, kept while the tensors live unchanged.

    Tensors are compared by identity and version, so that an in-place change is noticed, except for
    one behind PyTorch's back, through ``.data`` or NumPy. A value is dropped with its first tensor,
    which it must not hold. The same tensors may have several values, told apart by a tag.
    """

    def __init__(self) -> None:
        self._entries = WeakTensorKeyDictionary()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, tensors: tuple[Tensor, ...], tag: Hashable = None) -> T | None:
        """The value of these tensors, ``None`` if there is none."""
        return self._values(tensors).get(tag)

    def put(self, tensors: tuple[Tensor, ...], value: T, tag: Hashable = None) -> T:
        """Keep a value, and return it."""
        if not _unversioned(tensors):
            values = {**self._values(tensors), tag: value}
            others = tuple(weakref.ref(tensor) for tensor in tensors[1:])
            self._entries[tensors[0]] = _Entry(others, _versions(tensors), values)
        return value

    def get_or_build(
        self, tensors: tuple[Tensor, ...], build: Callable[[], T], tag: Hashable = None
    ) -> T:
        """The value of these tensors, built and kept if there is none."""
        value = self.get(tensors, tag)
        return self.put(tensors, build(), tag) if value is None else value

    def _values(self, tensors: tuple[Tensor, ...]) -> dict[Hashable, T]:
        entry: _Entry | None = self._entries.get(tensors[0])  # type: ignore[no-untyped-call]
        if entry is None or _unversioned(tensors) or entry.versions != _versions(tensors):
            return {}
        same = all(old() is new for old, new in zip(entry.others, tensors[1:], strict=True))
        return entry.values if same else {}


def _versions(tensors: tuple[Tensor, ...]) -> tuple[int, ...]:
    return tuple(tensor._version for tensor in tensors)


def _unversioned(tensors: tuple[Tensor, ...]) -> bool:
    return any(tensor.is_inference() for tensor in tensors)


_GRAPHS: TensorCache[Graph] = TensorCache()


class _Edges(NamedTuple):
    """Everything that a graph is built from."""

    edge_index: Any
    edge_weight: Any
    num_nodes: int | None
    dtype: torch.dtype
    device: torch.device

    @classmethod
    def of(cls, data: Any) -> _Edges:
        """The edges of a ``Data``; dtype and device are those of its features, if it has any."""
        edge_index, weight = data.edge_index, getattr(data, "edge_weight", None)
        dtype, device = torch.get_default_dtype(), getattr(edge_index, "device", "cpu")
        for like in (weight, getattr(data, "x", None)):
            if isinstance(like, Tensor) and like.dtype in DTYPES:
                dtype, device = like.dtype, like.device
        return cls(edge_index, weight, count_nodes(data), dtype, torch.device(device))

    @property
    def tensors(self) -> tuple[Any, ...]:
        both = (self.edge_weight, self.edge_index)
        return both[1:] if self.edge_weight is None else both

    @property
    def are_tensors(self) -> bool:
        return all(isinstance(tensor, Tensor) for tensor in self.tensors)

    def tag(self, *, symmetrize: bool = False) -> Hashable:
        return (symmetrize, self.num_nodes, self.dtype, self.device)

    def kept(self) -> Graph | None:
        """The graph of these edges, if it is kept."""
        return _GRAPHS.get(self.tensors, self.tag()) if self.are_tensors else None

    def graph(self, *, symmetrize: bool = False) -> Graph:
        """The graph of these edges, built if it is not kept."""

        def build() -> Graph:
            edges, weight, n, dtype, device = self
            return Graph(edges, n, weight, symmetrize=symmetrize, dtype=dtype, device=device)

        if not self.are_tensors:
            return build()
        return _GRAPHS.get_or_build(self.tensors, build, self.tag(symmetrize=symmetrize))

    def are_of(self, graph: Graph) -> bool:
        """Whether a graph has these edges, and no others unless it is a sample.

        The edges may list one direction only. A sample has all edges between its nodes, of which
        a loader keeps some.
        """
        if graph.num_nodes != self.num_nodes:
            return False
        own, listed = graph.adjacency, (self.kept() or self.graph(symmetrize=True)).adjacency
        return own.contains(listed) if graph.is_sample else own.equals(listed)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def as_graph(edges: Any, edge_weight: Any, x: Any) -> Graph:
    """The graph that features ``x`` live on.

    It is built from an ``edge_index`` once and shared by all layers and models, as long as the
    tensor is unchanged.

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
    return _Edges(edges, edge_weight, x.shape[0], full_dtype(x), x.device).graph()


def graph_of(data: Any) -> Graph:
    """The graph of some data, as their edges are now.

    It is built from ``edge_index`` and ``edge_weight`` once and kept while they are unchanged. A
    ``graph`` that the data carry is used only if it has these edges, or if there are no others.

    Args:
        data: a PyTorch Geometric ``Data``, or any object with ``edge_index`` or ``graph``

    Raises:
        GraphError: if the edges are not an undirected graph, with a way out

    Example:
        >>> from torch_geometric.data import Data
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
        >>> graph_of(data) is graph_of(data)
        True
        >>> data.edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> graph_of(data)
        Graph(num_nodes=3, num_edges=2, num_components=1)
    """
    return current_graph(data, getattr(data, "graph", None))


def current_graph(data: Any, carried: Any) -> Graph:
    """:func:`graph_of` some data that carry this graph, or ``None``."""
    if getattr(data, "edge_index", None) is None:
        return Graph.from_data(data) if carried is None else carried
    edges = _Edges.of(data)
    if isinstance(carried, Graph) and edges.are_of(carried):
        return carried
    try:
        return edges.graph()
    except DirectedGraphError as error:
        raise DirectedGraphError(
            f"{error}: data = graphsct.datasets.from_data(data, symmetrize=True)"
        ) from error


def keep_graph(data: Any, graph: Graph) -> None:
    """Use this graph as the graph of the data until their edges change."""
    edges = _Edges.of(data)
    _GRAPHS.put(edges.tensors, graph.to(edges.device, edges.dtype), edges.tag())


def kept_graph(data: Any) -> Graph | None:
    """The graph of the data, if it is built already and their edges have not changed."""
    return _Edges.of(data).kept()
