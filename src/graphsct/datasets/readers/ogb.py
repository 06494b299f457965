"""The raw CSV layout of the Open Graph Benchmark's node property sets, without its package.

``raw/`` holds ``edge``, ``node-feat``, ``node-label``, ``num-node-list`` and ``num-edge-list``,
``split/SCHEME/`` holds ``train``, ``valid`` and ``test``, all as ``.csv.gz`` without a header.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphsct.datasets.assemble import assemble
from graphsct.datasets.readers.columns import PathLike
from graphsct.datasets.readers.edges import EdgeList, build_graph
from graphsct.datasets.readers.masks import as_mask
from graphsct.datasets.splits import Split
from graphsct.errors import DataError

__all__ = ["Tables", "from_ogb", "read_folder"]


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
        folder: folder with ``raw`` and ``split``
        scheme: folder in ``split``, if there are several
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        name: name of the result; defaults to the name of the folder
    """
    path = Path(folder)
    table = read_folder(path, scheme)
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


@dataclass(frozen=True)
class Tables:
    """The content of the files, checked against their counts.

    Args:
        num_nodes: number of nodes
        edge_index: directed, as listed; shape: ``(2, num_edges)``
        x: shape: ``(n, d)``
        y: -1 where the label is missing; shape: ``(n,)``
        split: ids of the training, validation and test nodes
    """

    num_nodes: int
    edge_index: Any
    x: Any
    y: Any
    split: tuple[Any, Any, Any]


def read_folder(folder: Path, scheme: str | None = None) -> Tables:
    """Read one graph; ``scheme`` is a folder in ``split``, needed if there are several."""
    raw, splits = folder / "raw", folder / "split"
    num_nodes = _count(raw / "num-node-list.csv.gz")
    edges = _table(raw / "edge.csv.gz", np.int64, columns=2)
    _same(raw / "edge.csv.gz", len(edges), _count(raw / "num-edge-list.csv.gz"))
    _check_ids(raw / "edge.csv.gz", edges, num_nodes)
    x = _table(raw / "node-feat.csv.gz", np.float32)
    _same(raw / "node-feat.csv.gz", len(x), num_nodes)
    label = _table(raw / "node-label.csv.gz", np.float64, columns=1).ravel()
    _same(raw / "node-label.csv.gz", len(label), num_nodes)
    y = np.where(np.isnan(label), -1, label)
    if (y != np.round(y)).any():
        line = int(np.flatnonzero(y != np.round(y))[0])
        raise DataError(f"{raw / 'node-label.csv.gz'}, line {line + 1}: {y[line]} is not a class")
    part = splits / (scheme or _only_scheme(splits))
    ids = []
    for name in ("train", "valid", "test"):
        path = part / f"{name}.csv.gz"
        ids.append(_table(path, np.int64, columns=1).ravel())
        _check_ids(path, ids[-1][:, None], num_nodes)
    return Tables(num_nodes, edges.T, x, y.astype(np.int64), (ids[0], ids[1], ids[2]))


def _only_scheme(splits: Path) -> str:
    schemes = sorted(path.name for path in splits.glob("*") if path.is_dir())
    if len(schemes) != 1:
        raise DataError(f"{splits} holds {schemes or 'no split'}; name one with scheme=...")
    return schemes[0]


def _table(path: Path, dtype: Any, columns: int | None = None) -> Any:
    if not path.is_file():
        raise DataError(f"{path} is missing; it is part of the Open Graph Benchmark's raw layout")
    try:
        if not path.stat().st_size:
            raise ValueError("the file is empty")
        table = np.loadtxt(path, dtype=dtype, delimiter=",", ndmin=2)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if not table.size or (columns is not None and table.shape[1] != columns):
        raise DataError(f"{path} holds a table of shape {table.shape}, expected {columns} columns")
    return table


def _count(path: Path) -> int:
    counts = _table(path, np.int64, columns=1)
    if len(counts) != 1:
        raise DataError(f"{path} lists {len(counts)} graphs, expected one")
    return int(counts[0, 0])


def _same(path: Path, rows: int, expected: int) -> None:
    if rows != expected:
        raise DataError(f"{path} has {rows} lines, but the count beside it says {expected}")


def _check_ids(path: Path, ids: Any, num_nodes: int) -> None:
    bad = ((ids < 0) | (ids >= num_nodes)).any(axis=1)
    if bad.any():
        line = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{path}, line {line + 1}: {ids[line].tolist()} is not in 0 .. {num_nodes - 1}"
        )
