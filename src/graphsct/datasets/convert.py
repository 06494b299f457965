"""The user's own graph, from what other libraries hold: PyG, NetworkX, OGB's folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from graphsct.datasets import ogb
from graphsct.datasets.assemble import assemble
from graphsct.datasets.edgelist import EdgeList, build_graph
from graphsct.datasets.masks import as_mask, read_splits
from graphsct.datasets.naming import number_classes
from graphsct.datasets.splits import Fractions, PerClass, Split
from graphsct.datasets.text import PathLike
from graphsct.errors import DataError, GraphError
from graphsct.graph import Graph

__all__ = ["from_data", "from_networkx", "from_ogb"]


def from_data(
    data: Any,
    *,
    split: Fractions | PerClass | Split | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    name: str = "data",
) -> Any:
    """Check a PyTorch Geometric ``Data`` and give it a ``.graph``; the original is left alone.

    Masks are taken from ``split``, else from the ``Data``; of several columns each is a split.

    Args:
        data: with ``edge_index``, and ``x``, ``y``, ``edge_weight`` and masks if it has them
        split: how to draw masks, or masks
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: kept on the result
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
    masks: list[Any] = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    if split is None and all(mask is not None for mask in masks):
        columns = [mask.reshape(graph.num_nodes, -1).t() for mask in masks]
        splits = [Split(*masks_of_one) for masks_of_one in zip(*columns, strict=True)]
    else:
        splits = read_splits(split, y, graph.num_nodes)
    return assemble(
        name,
        graph=graph,
        edge_index=data.edge_index,
        x=None if x is None else _to_array(x),
        y=y,
        splits=splits,
        normalize=normalize,
        every_class=split is not None,
        **more,
    )


def _to_array(x: Any) -> Any:
    if x.layout == torch.strided:
        return x.numpy()
    x = x.to_sparse_csr()
    pieces = (x.values(), x.col_indices(), x.crow_indices())
    return csr_array(tuple(piece.numpy() for piece in pieces), shape=tuple(x.shape))


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
    """Read a NetworkX graph; ``data.node_ids`` keeps its nodes in order.

    Args:
        graph: the graph; one that is directed must be symmetric, or see ``symmetrize``
        features: the node attribute that holds a list of numbers
        label: the node attribute that holds the class; a node without it has no label
        weight: the edge attribute that holds the weights
        split: how to draw masks, or masks
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: kept on the result
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


def from_ogb(
    folder: PathLike,
    *,
    scheme: str | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    name: str | None = None,
) -> Any:
    """Read a folder in the raw CSV layout of the Open Graph Benchmark.

    Args:
        folder: with ``raw`` and ``split``
        scheme: the folder in ``split`` to use, if there are several
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: kept on the result; the name of the folder if left out
    """
    path = Path(folder)
    table = ogb.read_folder(path, scheme)
    listed = EdgeList(table.edge_index, None, table.num_nodes, None, path / "raw/edge.csv.gz")
    return assemble(
        name or path.name,
        graph=build_graph(listed, table.edge_index, table.num_nodes, symmetrize),
        edge_index=torch.from_numpy(table.edge_index),
        x=table.x,
        y=torch.from_numpy(table.y),
        splits=[Split(*(as_mask(ids, table.num_nodes, str(path)) for ids in table.split))],
        normalize=normalize,
        every_class=True,
    )
