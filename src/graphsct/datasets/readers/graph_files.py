"""The user's own graph, from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from graphsct.datasets.assemble import assemble, self_loops
from graphsct.datasets.made_features import MADE_FEATURES
from graphsct.datasets.readers.columns import PathLike, existing, read_columns
from graphsct.datasets.readers.edges import build_graph, read_edges
from graphsct.datasets.readers.masks import SplitLike, read_splits
from graphsct.datasets.readers.node_tables import read_features, read_labels, read_numbers
from graphsct.datasets.readers.numbering import Named, number_classes, number_nodes, rows_of
from graphsct.datasets.targets import check_targets
from graphsct.errors import DataError

__all__ = ["from_files"]


def from_files(
    edges: PathLike,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    *,
    targets: PathLike | None = None,
    nodes: PathLike | None = None,
    num_nodes: int | None = None,
    split: SplitLike | None = None,
    weighted: bool = False,
    symmetrize: bool = False,
    string_ids: bool | None = None,
    normalize: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    name: str | None = None,
) -> Any:
    """Read a graph from files into a PyTorch Geometric ``Data`` with a ``graph``.

    Text files are ``.csv``, ``.tsv`` or ``.txt`` (blanks between fields), with or without ``.gz``.
    Nothing is ever unpickled.

    If ids are integers and no file names the nodes, ids are positions. Otherwise the nodes have the
    order of the file that names them (``nodes``, else the first column of ``features``, else of
    ``labels``), which ``data.node_ids`` keeps. If no file names string ids, the nodes have the
    order of their first appearance among the sources, then the targets of the edges.

    Args:
        edges: two columns of node ids, in text, ``.parquet``, ``.npy`` or ``.npz``
            (``edge_index``), or an adjacency matrix saved by SciPy
        features: ``.npy``, ``.npz`` (``x``), a SciPy matrix, text or ``.parquet``; in a table the
            first column holds ids if its name is ``id``, ``node``, ``node_id``, ``name`` or
            ``index``, or if it is not a number. For a graph without any, ``degree``, ``laplacian``
            or ``one_hot`` makes them
        labels: one column of classes, or two, ids and classes; an empty class or -1 is a node
            without a label. Classes that are not 0, 1, ... are numbered in order, and
            ``data.class_names`` keeps their names. Several columns of 0 and 1, beside the ids if
            there are some, are labels of which a node may have many.
        targets: one or several columns of numbers to predict, instead of labels, in the forms of
            ``features``; an empty field or NaN is a node without the number
        nodes: ids in order, one per line
        num_nodes: number of nodes, if no file has it
        split: :class:`Fractions` or :class:`PerClass` to draw masks, a ``.npz`` with ``train``,
            ``val`` and ``test`` (masks, with one row per split if there are several, or node
            numbers), or a file of ids for each of them
        weighted: take the third column of ``edges``, or the values of the matrix, as weights; a
            column that a header calls ``weight`` is taken anyway
        symmetrize: add missing reverse edges instead of refusing a directed graph
        string_ids: take ids as names, even if they look like integers; by default, the first row
            decides
        normalize: make each row of features sum to one
        delimiter: separator of fields in text files; by default that of the file's extension
        header: whether text files begin with a header; by default that is detected, and refused
            where neither the words nor the other rows tell
        name: name of the result; defaults to the name of the file of edges
    """
    options: dict[str, Any] = dict(delimiter=delimiter, header=header)
    made = features if isinstance(features, str) and features in MADE_FEATURES else None
    if labels is not None and targets is not None:
        raise DataError(f"{labels} and {targets} are both to be predicted; keep one")
    listed = read_edges(edges, weighted=weighted, string_ids=string_ids, **options)
    x, x_ids = read_features(None if made else features, **options)
    if targets is not None:
        wanted, y_ids = read_numbers(targets, ("y", "targets"), **options)
    else:
        wanted, y_ids = read_labels(labels, **options)
    named = _read_nodes(nodes, **options) or x_ids or y_ids
    edge_index, node_ids = number_nodes(listed, named)
    more: dict[str, Any] = {}
    if node_ids is not None:
        more["node_ids"] = node_ids
        if num_nodes not in (None, len(node_ids)):
            raise DataError(f"num_nodes is {num_nodes}, but the files name {len(node_ids)} nodes")
        num_nodes = len(node_ids)
    if named is None and node_ids is not None and not (x is None and wanted is None):
        raise DataError(
            f"{edges} names its nodes, but {features or labels or targets} does not say which row "
            "is whose; pass nodes=, a file with the ids in the order of the rows"
        )
    if named is not None:
        x = x if x_ids in (None, named) else x[rows_of(named, x_ids)]
        wanted = wanted if y_ids in (None, named) else wanted[rows_of(named, y_ids)]
    if num_nodes is None:
        num_nodes = listed.num_nodes
    if num_nodes is None:
        rows = [part.shape[0] for part in (x, wanted) if part is not None]
        num_nodes = max(rows, default=None)
    graph = build_graph(listed, edge_index, num_nodes, symmetrize)
    loops = self_loops(edge_index)
    del listed, edge_index  # as much memory as the result
    y = None
    if wanted is not None and (targets is not None or wanted.ndim == 2):
        y = check_targets(torch.from_numpy(wanted), graph.num_nodes, str(labels or targets))
    elif wanted is not None:
        y, class_names = number_classes(wanted, graph.num_nodes, str(labels))
        if class_names is not None:
            more["class_names"] = class_names
    return assemble(
        name or Path(edges).name,
        graph=graph,
        loops=loops,
        x=x,
        y=y,
        splits=read_splits(split, y, graph.num_nodes, named, **options),
        normalize=normalize,
        every_class=True,
        features=made,
        **more,
    )


def _read_nodes(path: PathLike | None, **options: Any) -> Named | None:
    if path is None:
        return None
    table = read_columns(existing(path), lambda _, first: ["string"] * len(first), ids=1, **options)
    if len(table.columns) > 1:
        raise DataError(
            f"{table.path} has {len(table.columns)} columns, but nodes are one column of ids; move "
            "the others into files of their own: labels.csv with the columns id and label, and "
            "features.csv with id and all features"
        )
    return Named.of(table)
