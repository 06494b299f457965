"""The construction of a checked ``Data``, shared by all data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.catalog import Facts
from graphsct.datasets.features import check_features, compact, normalize_rows, to_tensor
from graphsct.datasets.splits import Split, check_split
from graphsct.errors import DataError
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of, keep_graph

__all__ = ["assemble", "describe", "edge_homophily"]


def assemble(
    name: str,
    *,
    graph: Graph,
    edge_index: Tensor,
    x: Any,
    y: Tensor | None,
    splits: Sequence[Split],
    split: int = 0,
    normalize: bool = False,
    every_class: bool = False,
    **more: Any,
) -> Any:
    """Check that the parts belong together, and build a PyTorch Geometric ``Data`` from them.

    Args:
        name: name of the data set
        graph: the undirected graph
        edge_index: the edges from which it was built; shape: ``(2, num_edges)``
        x: features, dense or sparse, or ``None``; shape: ``(n, d)``
        y: labels, -1 for none, or ``None``; shape: ``(n,)``
        splits: all splits
        split: number of the one that becomes ``train_mask``, ``val_mask`` and ``test_mask``
        normalize: make each row of features sum to one
        every_class: refuse a split without training nodes of some class
        **more: further attributes of the ``Data``
    """
    from graphsct.datasets.graph_data import GraphData  # PyTorch Geometric takes a second

    edge_index, edge_weight = _undirected(graph, edge_index)
    data = GraphData(edge_index=edge_index, num_nodes=graph.num_nodes, name=name, **more)
    if edge_weight is not None:
        data.edge_weight = edge_weight
    if x is not None:
        x = compact(check_features(x, graph.num_nodes, f"the features of {name}"))
        data.x = to_tensor(normalize_rows(x) if normalize else x)
    if y is not None:
        data.y = _check_labels(y, graph.num_nodes, name)
        data.num_classes = int(y.max()) + 1
    if splits:
        if y is None:
            raise DataError(f"{name} has a split but no labels; pass labels")
        if not 0 <= split < len(splits):
            raise DataError(f"{name} has {len(splits)} splits; split={split} is not among them")
        for number, masks in enumerate(splits):
            check_split(masks, y, every_class=every_class, where=f"split {number} of {name}")
        data.splits = list(splits)
        data.train_mask, data.val_mask, data.test_mask = splits[split]
    keep_graph(data, graph)
    return data


def _check_labels(y: Tensor, num_nodes: int, name: str) -> Tensor:
    if y.shape != (num_nodes,):
        raise DataError(
            f"the labels of {name} have shape {tuple(y.shape)}, expected ({num_nodes},)"
        )
    if int(y.min()) < -1 or int(y.max()) < 0:
        raise DataError(
            f"the labels of {name} run from {int(y.min())} to {int(y.max())}; classes are 0, 1, "
            "..., and -1 is a node without a label"
        )
    return y


def edge_homophily(edge_index: Tensor, y: Tensor) -> float:
    r"""Share of the edges that join two nodes of one class,
    :math:`|\{(u, v) \in E : y_u = y_v\}| / |E|`.

    Listed self-loops count, as in PyTorch Geometric; edges of a node without a label do not.

    Example:
        >>> edge_homophily(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([0, 0, 1]))
        0.5
    """
    ends = y[edge_index]
    same = ends[0] == ends[1]
    return float(same[(ends >= 0).all(dim=0)].double().mean())


def describe(data: Any) -> Facts:
    """Count the nodes, edges, features, classes and components of a ``Data``."""
    graph = graph_of(data)
    return Facts(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=data.num_features,
        classes=data.num_classes,
        components=graph.num_components,
        homophily=edge_homophily(data.edge_index, data.y),
    )


def _undirected(graph: Graph, listed: Tensor) -> tuple[Tensor, Tensor | None]:
    """Both directions of every edge once, sorted, with weights; self-loops if listed."""
    adjacency = graph.adjacency
    col = adjacency.columns.long()
    row = torch.arange(graph.num_nodes).repeat_interleave(adjacency.starts.diff())
    looped = torch.zeros(graph.num_nodes, dtype=torch.bool)
    looped[listed[0][listed[0] == listed[1]]] = True
    kept = (row != col) | looped[row]
    weight = None if adjacency.weight is None else adjacency.weight[kept]
    return torch.stack([row[kept], col[kept]]), weight
