"""Edge lists, read from any file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from graphsct.datasets.readers.arrays import ARRAYS, read_array
from graphsct.datasets.readers.columns import Columns, PathLike, existing, is_integer, read_columns
from graphsct.errors import DataError, DirectedGraphError, GraphError
from graphsct.graph import Graph

__all__ = ["EdgeList", "build_graph", "check_pairs", "read_edges"]

_WEIGHTS = (["weight"], ["weights"])


@dataclass(frozen=True)
class EdgeList:
    """Edges in the order of their file; node ids are numbers or names.

    Args:
        ids: node numbers, ``None`` if the ids are names; shape: ``(2, num_edges)``
        weight: weights of the edges; shape: ``(num_edges,)``
        num_nodes: the number of nodes, if the file has it
        table: the table whose first two columns hold the names, without columns if the ids are
            numbers; ``None`` for an array
        path: the file
    """

    ids: Any
    weight: Any
    num_nodes: int | None
    table: Columns | None
    path: Path

    def edge(self, entry: int) -> str:
        """The two ids of an edge, as they are in the file."""
        ends = self.ids if self.table is None or self.ids is not None else self.table.columns[:2]
        return " -> ".join(str(end[entry]) for end in ends)

    def where(self, entry: int) -> str:
        """The file and the line or index of an edge, for an error message."""
        return f"{self.path}, edge {entry}" if self.table is None else self.table.where(entry)


def read_edges(
    path: PathLike,
    *,
    weighted: bool = False,
    string_ids: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> EdgeList:
    """Read an edge list; the arguments are those of :func:`from_files`."""
    path = existing(path)
    if path.suffix in ARRAYS:
        return _edges_from_array(path, weighted)

    def types(names: Sequence[str] | None, first: Sequence[str]) -> Sequence[str]:
        nonlocal weighted
        weighted = weighted or (names is not None and names[2:] in _WEIGHTS)
        if len(first) != 2 + weighted:
            hint = "; call the third weight in a header, or pass weighted=True, to take it as such"
            hint = hint if len(first) == 3 else ""
            raise DataError(
                f"expected two ids{' and a weight' if weighted else ''}, found {len(first)} "
                f"fields: {first}{hint}"
            )
        named = not all(map(is_integer, first[:2])) if string_ids is None else string_ids
        return ["string" if named else "int64"] * 2 + ["double"] * weighted

    table = read_columns(path, types, ids=2, delimiter=delimiter, header=header)
    weight = table.array(2) if weighted else None
    if "string" in str(table.columns[0].type):
        for column in (0, 1):
            table.check_full(column)
        return EdgeList(None, weight, None, table, path)
    ids = np.empty((2, len(table.columns[0])), dtype=np.int64)
    for end in (0, 1):
        table.fill(end, ids[end])
    if ids.min() < 0:
        entry = int(np.flatnonzero((ids < 0).any(axis=0))[0])
        raise DataError(
            f"{table.where(entry)}: the id {int(ids[:, entry].min())} is negative; ids run from 0, "
            "or pass string_ids=True to take them as names"
        )
    return EdgeList(ids, weight, None, replace(table, columns=()), path)  # a copy would take memory


def _edges_from_array(path: Path, weighted: bool) -> EdgeList:
    found = read_array(path, ("edge_index", "edges"))
    if issparse(found):
        if found.shape[0] != found.shape[1]:
            raise DataError(
                f"{path}: the adjacency matrix has shape {found.shape}, expected (n, n)"
            )
        entries = found.tocoo()
        if found.shape[0] > max(1_000_000, 16 * entries.nnz):
            raise DataError(
                f"{path}: the adjacency matrix has {found.shape[0]} rows but only {entries.nnz} "
                "entries, so nearly all nodes would be isolated; save it without the empty rows"
            )
        kept = entries.data != 0
        ids = np.stack([end[kept] for end in entries.coords]).astype(np.int64)
        return EdgeList(ids, entries.data[kept] if weighted else None, found.shape[0], None, path)
    if weighted:
        raise DataError(f"{path} has no weights; save them in a table or as a SciPy matrix")
    return EdgeList(check_pairs(found, str(path)), None, None, None, path)


def check_pairs(found: Any, where: str) -> Any:
    """An array of node ids as edges; shape: ``(2, num_edges)``."""
    if found.ndim != 2 or 2 not in found.shape:
        raise DataError(f"{where} holds an array of shape {found.shape}, expected (2, num_edges)")
    if found.dtype.kind not in "iu":
        raise DataError(f"{where} holds {found.dtype}, expected integers: node ids")
    ids = np.ascontiguousarray(found if found.shape[0] == 2 else found.T, dtype=np.int64)
    if ids.size and ids.min() < 0:
        entry = int(np.flatnonzero((ids < 0).any(axis=0))[0])
        raise DataError(f"{where}, edge {entry}: {ids[:, entry].tolist()} holds a negative id")
    return ids


def build_graph(
    listed: EdgeList, edge_index: Any, num_nodes: int | None, symmetrize: bool
) -> Graph:
    """Build the graph of numbered edges; an error names the line of the wrong edge."""
    if num_nodes is not None and edge_index.size and edge_index.max() >= num_nodes:
        entry = int(np.flatnonzero((edge_index >= num_nodes).any(axis=0))[0])
        raise DataError(
            f"{listed.where(entry)}: the node {int(edge_index[:, entry].max())} is unknown, there "
            f"are {num_nodes} nodes, 0 .. {num_nodes - 1}"
        )
    try:
        return Graph(edge_index, num_nodes, listed.weight, symmetrize=symmetrize)
    except DirectedGraphError as error:
        assert error.edge is not None
        source, target = error.edge
        entry = int(np.argmax((edge_index[0] == source) & (edge_index[1] == target)))
        message = str(error).replace(f"{source} -> {target}", listed.edge(entry))
        raise DataError(f"{listed.where(entry)}: {message}") from error
    except GraphError as error:
        raise DataError(f"{listed.path}: {error}") from error
