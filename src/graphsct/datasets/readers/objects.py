"""Graphs of the user that other libraries hold: PyTorch Geometric and NetworkX."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphsct.datasets.assemble import assemble, self_loops
from graphsct.datasets.features import as_numbers, from_tensor
from graphsct.datasets.readers.edge_attributes import edge_attributes
from graphsct.datasets.readers.masks import as_masks, read_splits, stack_masks
from graphsct.datasets.readers.numbering import number_classes, read_targets
from graphsct.datasets.splits import Fractions, PerClass, Split, as_splits
from graphsct.errors import DataError, GraphError
from graphsct.graph import Graph
from graphsct.graph.graph import count_nodes

__all__ = ["from_data", "from_networkx"]

_READ = {"edge_index", "edge_weight", "adj_t", "graph", "num_nodes", "x", "y", "name", "splits"}
_READ |= {"train_mask", "val_mask", "test_mask", "num_classes", "num_outputs"}


def from_data(
    data: Any,
    *,
    split: Fractions | PerClass | Split | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    features: str | None = None,
    name: str = "data",
) -> Any:
    """Copy a PyTorch Geometric ``Data`` into one with a ``graph``, after checking it.

    The masks come from ``split``, else from the ``Data``: from its ``splits``, or from its
    ``train_mask``, ``val_mask`` and ``test_mask``, which are booleans (of a matrix, each column is
    a split) or node numbers. Whole numbers in ``y`` are classes, a matrix of 0 and 1 are labels,
    and other floats are numbers to predict. All other attributes are kept. An ``edge_attr`` that
    may be weights is refused.

    Args:
        data: with ``edge_index`` or ``adj_t``, and ``x``, ``y``, ``edge_weight`` and masks if it
            has them; or a dataset of one such graph
        split: the masks, or how to draw them
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        features: the features to make for a graph without any: ``degree``, ``laplacian`` or
            ``one_hot``
        name: the name of the result
    """
    source = _only_graph(data, name)
    try:
        edge_index, weight = _edges(source)
        graph = Graph(edge_index, count_nodes(source), weight, symmetrize=symmetrize)
    except GraphError as error:
        raise DataError(f"{name}: {error}") from error
    n = graph.num_nodes
    x, y = getattr(source, "x", None), getattr(source, "y", None)
    more: dict[str, Any] = {}
    if y is not None:
        y, class_names = read_targets(as_numbers(y, f"{name}.y"), n, f"{name}.y")
        more |= {} if class_names is None else {"class_names": class_names}
    found = assemble(
        name,
        graph=graph,
        loops=self_loops(edge_index),
        x=None if x is None else from_tensor(as_numbers(x, f"{name}.x")),
        y=y,
        splits=_splits(source, n, name) if split is None else read_splits(split, y, n),
        normalize=normalize,
        features=features,
        every_class=split is not None,
        **more,
    )
    of_edges = edge_attributes(source, edge_index, found.edge_index, n, name)
    for key, value in {**_further(source), **of_edges}.items():
        if key not in found:
            found[key] = value
    return found


def _only_graph(data: Any, name: str) -> Any:
    """The graph of a dataset that holds one."""
    from torch_geometric.data import Dataset

    if not isinstance(data, Dataset | list | tuple):
        return data
    if len(data) != 1:
        raise DataError(
            f"{name} holds {len(data)} graphs; take one of them, or all with "
            "graphsct.datasets.from_graphs(data)"
        )
    return data[0]


def _edges(data: Any) -> tuple[Any, Any]:
    """The edges and their weights, from ``edge_index`` or from ``adj_t``."""
    edge_index, adjacency = getattr(data, "edge_index", None), getattr(data, "adj_t", None)
    if edge_index is not None:
        return edge_index, getattr(data, "edge_weight", None)
    if adjacency is None:
        raise GraphError(
            f"{type(data).__name__} has neither edge_index nor adj_t; a homogeneous "
            "torch_geometric Data is expected"
        )
    if not isinstance(adjacency, Tensor):  # a SparseTensor of torch_sparse
        adjacency = adjacency.to_torch_sparse_coo_tensor()
    entries = adjacency.to_sparse_coo().coalesce()
    weight = entries.values()
    return entries.indices().flip(0), None if bool((weight == 1).all()) else weight


def _further(data: Any) -> dict[str, Any]:
    """The attributes that are neither read nor belong to edges."""
    if not hasattr(data, "to_dict"):
        return {}
    known = {*_READ, *data.edge_attrs()}
    return {key: value for key, value in data.to_dict().items() if key not in known}


def _splits(data: Any, num_nodes: int, name: str) -> list[Split]:
    """The splits of a ``Data``."""
    if getattr(data, "splits", None):
        return list(data.splits)
    masks = {part: getattr(data, f"{part}_mask", None) for part in Split._fields}
    missing = [part for part, mask in masks.items() if mask is None]
    if len(missing) == len(masks):
        return []
    if missing:
        raise DataError(
            f"{name} has other masks, but no {missing[0]}_mask; add it, or draw all of them: "
            "split=Fractions(0.48, 0.32)"
        )
    rows = []
    for part, mask in masks.items():
        nodes = from_tensor(as_numbers(mask, f"{name}.{part}_mask").to_dense())
        nodes = nodes.astype(bool) if nodes.dtype == np.uint8 else nodes  # of older versions
        columns = nodes.ndim == 2 and len(nodes) == num_nodes
        rows.append(as_masks(nodes.T if columns else nodes, num_nodes, f"{name}.{part}_mask"))
    return as_splits(stack_masks(rows, name))


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
        features: the node attribute that holds numbers: a list, an array, a tensor or a single one
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
    x = None if features is None else _attribute(graph, features, name)
    y = None
    if label is not None:
        values = np.array([str(graph.nodes[node].get(label, -1)) for node in ids])
        y, class_names = number_classes(values, len(ids), f"{name}, attribute {label!r}")
        more |= {} if class_names is None else {"class_names": class_names}
    loops = [i for i, node in enumerate(ids) if graph.has_edge(node, node)]
    return assemble(
        name,
        graph=built,
        loops=loops,
        x=x,
        y=y,
        splits=read_splits(split, y, len(ids)),
        normalize=normalize,
        every_class=True,
        **more,
    )


def _attribute(graph: Any, key: str, name: str) -> Any:
    """The numbers in an attribute of each node of a NetworkX graph; shape: ``(n, d)``."""
    rows: list[Any] = []
    for node, value in graph.nodes(data=key):
        try:
            row = torch.as_tensor(value, dtype=torch.float32).detach().cpu().numpy()
        except (TypeError, ValueError, RuntimeError, OverflowError):
            row = None
        if row is None or row.ndim > 1 or (rows and row.size != rows[0].size):
            expected = f"{rows[0].size} numbers, as before" if rows else "numbers"
            raise DataError(
                f"{name}: {key!r} of the node {node!r} is {short(value)}, expected {expected}"
            )
        rows.append(row.reshape(-1))
    return np.stack(rows)
