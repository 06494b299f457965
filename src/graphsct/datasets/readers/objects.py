"""Graphs of the user that other libraries hold: PyTorch Geometric and NetworkX."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graphsct.datasets.assemble import assemble
from graphsct.datasets.features import from_tensor
from graphsct.datasets.readers.masks import read_splits
from graphsct.datasets.readers.numbering import number_classes
from graphsct.datasets.splits import Fractions, PerClass, Split
from graphsct.errors import DataError, GraphError
from graphsct.graph import Graph

__all__ = ["from_data", "from_networkx"]


def from_data(
    data: Any,
    *,
    split: Fractions | PerClass | Split | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    name: str = "data",
) -> Any:
    """Copy a PyTorch Geometric ``Data`` into one with a ``graph``, after checking it.

    The masks come from ``split``, else from the ``Data``: from its ``splits`` or its masks, of
    which each column is a split.

    Args:
        data: with ``edge_index``, and ``x``, ``y``, ``edge_weight`` and masks if it has them
        split: the masks, or how to draw them
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: the name of the result
    """
    try:
        graph = Graph.from_data(data, symmetrize=symmetrize)
    except GraphError as error:
        raise DataError(f"{name}: {error}") from error
    x, y = getattr(data, "x", None), getattr(data, "y", None)
    more: dict[str, Any] = {}
    if y is not None:
        y, class_names = number_classes(y.numpy(), graph.num_nodes, f"{name}.y")
        more |= {} if class_names is None else {"class_names": class_names}
    masks: list[Any] = [getattr(data, f"{part}_mask", None) for part in Split._fields]
    if split is None and getattr(data, "splits", None):
        splits = list(data.splits)
    elif split is None and all(mask is not None for mask in masks):
        columns = [mask.reshape(graph.num_nodes, -1).t() for mask in masks]
        splits = [Split(*masks_of_one) for masks_of_one in zip(*columns, strict=True)]
    else:
        splits = read_splits(split, y, graph.num_nodes)
    return assemble(
        name,
        graph=graph,
        edge_index=data.edge_index,
        x=None if x is None else from_tensor(x),
        y=y,
        splits=splits,
        normalize=normalize,
        every_class=split is not None,
        **more,
    )


def from_networkx(
    graph: Any,
    *,
    features: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    split: Fractions | PerClass | Split | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    name: str = "networkx",
) -> Any:
    """Read a NetworkX graph; ``data.node_ids`` lists its nodes in order.

    Args:
        graph: a graph; the edges of a directed one need their reverse, or ``symmetrize``
        features: the node attribute that holds a list of numbers
        label: the node attribute that holds the class; nodes without it have no label
        weight: the edge attribute that holds the weights
        split: the masks, or how to draw them
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: the name of the result
    """
    try:
        built = Graph.from_networkx(graph, weight, symmetrize=symmetrize)
    except GraphError as error:
        raise DataError(f"{name}: {error}") from error
    ids = list(graph.nodes)
    more: dict[str, Any] = {"node_ids": ids}
    x = None
    if features is not None:
        rows = [graph.nodes[node].get(features) for node in ids]
        for node, row in zip(ids, rows, strict=True):
            if row is None or len(row) != len(rows[0] or ()):
                raise DataError(
                    f"{name}: {features!r} of the node {node!r} is {row!r}, expected "
                    f"{len(rows[0] or ())} numbers as for {ids[0]!r}"
                )
        x = np.array(rows, dtype=np.float32)
    y = None
    if label is not None:
        values = np.array([str(graph.nodes[node].get(label, -1)) for node in ids])
        y, class_names = number_classes(values, len(ids), f"{name}, attribute {label!r}")
        more |= {} if class_names is None else {"class_names": class_names}
    loops = [i for i, node in enumerate(ids) if graph.has_edge(node, node)]
    return assemble(
        name,
        graph=built,
        edge_index=torch.tensor([loops, loops], dtype=torch.long),
        x=x,
        y=y,
        splits=read_splits(split, y, len(ids)),
        normalize=normalize,
        every_class=True,
        **more,
    )
