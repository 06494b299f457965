"""The raw CSV layout of the Open Graph Benchmark's node property sets, without its package.

``raw/`` holds ``edge``, ``node-label``, ``num-node-list``, ``num-edge-list`` and perhaps
``node-feat`` and ``node_year``, ``split/SCHEME/`` holds ``train``, ``valid`` and ``test``, all as
``.csv.gz`` without a header.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from graphsct.datasets.parsed import Parsed
from graphsct.datasets.readers.columns import PathLike
from graphsct.datasets.readers.limits import check_unpacked
from graphsct.datasets.readers.masks import SplitLike
from graphsct.datasets.readers.parsed_data import assemble_parsed
from graphsct.errors import DataError

__all__ = ["from_ogb", "read_folder"]


def from_ogb(
    folder: PathLike,
    *,
    scheme: str | None = None,
    split: SplitLike | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    features: str | None = None,
    name: str | None = None,
) -> Any:
    """Read a folder in the raw CSV layout of the Open Graph Benchmark.

    Args:
        folder: folder with ``raw`` and ``split``
        scheme: folder in ``split``, if there are several
        split: instead of the one in the folder
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        features: the features to make for a graph without any: ``degree``, ``laplacian`` or
            ``one_hot``
        name: name of the result; defaults to the name of the folder
    """
    path = Path(folder)
    return assemble_parsed(
        name or path.resolve().name,
        read_folder(path, scheme),
        path / "raw/edge.csv.gz",
        split=split,
        symmetrize=symmetrize,
        normalize=normalize,
        features=features,
    )


def read_folder(folder: Path, scheme: str | None = None) -> Parsed:
    """Read one graph; ``scheme`` is a folder in ``split``, needed if there are several."""
    raw, splits = folder / "raw", folder / "split"
    num_nodes = _count(raw / "num-node-list.csv.gz")
    edges = _table(raw / "edge.csv.gz", np.int64, columns=2)
    _same(raw / "edge.csv.gz", len(edges), _count(raw / "num-edge-list.csv.gz"))
    _check_ids(raw / "edge.csv.gz", edges, num_nodes)
    x = _optional(raw / "node-feat.csv.gz", np.float32, num_nodes)
    year = _optional(raw / "node_year.csv.gz", np.int64, num_nodes, columns=1)
    label = _table(raw / "node-label.csv.gz", np.float64, columns=1).ravel()
    _same(raw / "node-label.csv.gz", len(label), num_nodes)
    y = np.where(np.isnan(label), -1, label)
    if (y != np.round(y)).any():
        line = int(np.flatnonzero(y != np.round(y))[0])
        raise DataError(f"{raw / 'node-label.csv.gz'}, line {line + 1}: {y[line]} is not a class")
    part = splits / (scheme or _only_scheme(splits))
    masks = np.zeros((3, 1, num_nodes), dtype=bool)
    for mask, name in zip(masks[:, 0], ("train", "valid", "test"), strict=True):
        path = part / f"{name}.csv.gz"
        ids = _table(path, np.int64, columns=1)
        _check_ids(path, ids, num_nodes)
        mask[ids.ravel()] = True
    year = None if year is None else year.ravel()
    return Parsed(edges.T, x, y.astype(np.int64), masks, year)


def _optional(path: Path, dtype: Any, num_nodes: int, columns: int | None = None) -> Any:
    """A table with a row for each node, ``None`` if the file is missing."""
    if not path.is_file():
        return None
    table = _table(path, dtype, columns)
    _same(path, len(table), num_nodes)
    return table


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
        check_unpacked(path)
        table = np.loadtxt(path, dtype=dtype, delimiter=",", ndmin=2)
    except DataError:
        raise
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
