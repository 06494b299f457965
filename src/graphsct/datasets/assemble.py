"""The construction of a checked ``Data``, shared by all data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphsct.datasets.catalog import Facts
from graphsct.datasets.features import check_features, normalize_rows, readable, to_tensor
from graphsct.datasets.made_features import make_features
from graphsct.datasets.splits import Split, check_split
from graphsct.datasets.targets import check_targets, kind_of, num_outputs
from graphsct.errors import DataError
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of, keep_graph
from graphsct.graph.threads import in_two_threads

__all__ = ["assemble", "describe", "edge_homophily", "self_loops", "set_splits"]

#: Nodes and edges that stay in the cache between two steps.
_NODES, _EDGES = 1 << 14, 1 << 15


def assemble(
    name: str,
    *,
    graph: Graph,
    loops: Any,
    x: Any,
    y: Tensor | None,
    splits: Sequence[Split],
    split: int = 0,
    normalize: bool = False,
    every_class: bool = False,
    features: str | None = None,
    **more: Any,
) -> Any:
    """Check that the parts belong together, and build a PyTorch Geometric ``Data`` from them.

    Args:
        name: name of the data set
        graph: the undirected graph
        loops: the nodes with a self-loop among the edges of the user, see :func:`self_loops`
        x: features, dense or sparse, or ``None``; shape: ``(n, d)``
        y: targets, or ``None``; shape: ``(n,)`` or ``(n, t)``
        splits: all splits
        split: number of the one that becomes ``train_mask``, ``val_mask`` and ``test_mask``
        normalize: make each row of features sum to one
        every_class: refuse a split without training nodes of some class
        features: the features to make for a graph without any, such as ``degree``
        **more: further attributes of the ``Data``
    """
    from graphsct.datasets.graph_data import GraphData  # PyTorch Geometric takes a second

    edge_index, edge_weight = _undirected(graph, loops)
    data = GraphData(edge_index=edge_index, num_nodes=graph.num_nodes, name=name, **more)
    if edge_weight is not None:
        data.edge_weight = edge_weight
    if features is not None:
        if x is not None:
            raise DataError(f"{name} has features; leave features={features!r} out")
        x = make_features(features, graph, name)
    if x is not None:
        x = readable(check_features(x, graph.num_nodes, f"the features of {name}"))
        data.x = to_tensor(normalize_rows(x) if normalize else x)
    if y is not None:
        y = check_targets(y, graph.num_nodes, f"the target y of {name}")
        data.y = y = y.float() if y.is_floating_point() else y  # as the features
        data.num_outputs = num_outputs(y)
        if kind_of(y) == "classes":
            data.num_classes = data.num_outputs
    if splits:
        set_splits(data, splits, split, every_class=every_class)
    keep_graph(data, graph)
    return data


def set_splits(
    data: Any, splits: Sequence[Split], split: int = 0, *, every_class: bool = False
) -> None:
    """Give a ``Data`` its splits, after checking them; the arguments are those of
    :func:`assemble`.
    """
    if getattr(data, "y", None) is None:
        raise DataError(f"{data.name} has a split but no labels; pass labels")
    if not 0 <= split < len(splits):
        raise DataError(f"{data.name} has {len(splits)} splits; split={split} is not among them")
    for number, masks in enumerate(splits):
        check_split(masks, data.y, every_class=every_class, where=f"split {number} of {data.name}")
    data.splits = list(splits)
    data.train_mask, data.val_mask, data.test_mask = splits[split]


def edge_homophily(edge_index: Tensor, y: Tensor) -> float:
    r"""Share of the edges that join two nodes of one class,
    :math:`|\{(u, v) \in E : y_u = y_v\}| / |E|`.

    Listed self-loops count, as in PyTorch Geometric; edges of a node without a label do not.

    Example:
        >>> edge_homophily(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([0, 0, 1]))
        0.5
    """
    if edge_index.numel() and not 0 <= edge_index.min() <= edge_index.max() < len(y):
        raise DataError(
            f"edge_index has ids from {edge_index.min()} to {edge_index.max()}, but y has a class "
            f"for each of {len(y)} nodes; ids run from 0 to {len(y) - 1}"
        )
    ends = y[edge_index]
    same = ends[0] == ends[1]
    return float(same[(ends >= 0).all(dim=0)].double().mean())


def describe(data: Any) -> Facts:
    """Count the nodes, edges, features, classes (or other outputs) and components of data.

    Those of a list of graphs are counted over all graphs; homophily is that of classes of nodes.
    """
    graphs = [graph_of(graph) for graph in getattr(data, "graphs", [data])]
    x: Any = getattr(data, "x", None)
    y: Any = getattr(data, "y", None)
    if isinstance(x, Tensor) and x.dim() != 2:
        raise DataError(f"{data.name}: the features x have shape {tuple(x.shape)}, expected (n, d)")
    of_nodes = hasattr(data, "edge_index") and y is not None and kind_of(y) == "classes"
    return Facts(
        nodes=sum(graph.num_nodes for graph in graphs),
        edges=sum(graph.num_edges for graph in graphs),
        features=data.num_features,
        classes=0 if y is None else num_outputs(y),
        components=sum(graph.num_components for graph in graphs),
        homophily=edge_homophily(data.edge_index, y) if of_nodes else None,
    )


def self_loops(edge_index: Any) -> Any:
    """The nodes with a self-loop among these edges, perhaps several times.

    The edges themselves are not needed to assemble data, and many of them should be gone by then.
    """
    ends = np.asarray(edge_index)
    parts = (ends[:, i : i + _EDGES] for i in range(0, ends.shape[1], _EDGES))
    return np.concatenate([np.zeros(0, np.int64), *(p[0][p[0] == p[1]] for p in parts)])


def _undirected(graph: Graph, loops: Any) -> tuple[Tensor, Tensor | None]:
    """Both directions of every edge once, sorted, with weights, and these self-loops."""
    adjacency = graph.adjacency
    starts, columns = adjacency.starts.numpy(), adjacency.columns.numpy()
    looped = np.zeros(graph.num_nodes, dtype=bool)
    looped[loops] = True
    lost = np.concatenate([[0], np.cumsum(~looped)])
    kept = np.ones(len(columns), dtype=bool)
    edge_index = np.empty((2, len(columns) - lost[-1]), dtype=np.int64)

    def copy(first: int) -> None:
        rows = np.arange(first, min(first + _NODES, graph.num_nodes))
        own, bare = starts[first : first + _NODES + 1], ~looped[rows]
        entries = slice(own[0], own[-1])
        edges = slice(own[0] - lost[first], own[-1] - lost[first + len(rows)])
        diagonal = np.flatnonzero(columns[entries] == np.repeat(rows, np.diff(own)))
        kept[entries][diagonal[bare]] = False
        edge_index[0, edges] = np.repeat(rows, np.diff(own) - bare)
        edge_index[1, edges] = columns[entries][kept[entries]]

    in_two_threads(copy, range(0, graph.num_nodes, _NODES), edges=len(columns))
    weight = None if adjacency.weight is None else adjacency.weight[torch.from_numpy(kept)]
    return torch.from_numpy(edge_index), weight
