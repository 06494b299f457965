"""The user's own graph, from a folder of files with fixed names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphsct.datasets.readers.arrays import ARRAYS
from graphsct.datasets.readers.columns import TEXT, PathLike
from graphsct.datasets.readers.graph_files import from_files
from graphsct.datasets.readers.masks import SplitLike
from graphsct.datasets.readers.ogb import from_ogb
from graphsct.datasets.splits import Split
from graphsct.errors import DataError

__all__ = ["from_folder"]

_SUFFIXES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet", *ARRAYS)


def from_folder(
    folder: PathLike, *, split: SplitLike | None = None, symmetrize: bool = False
) -> Any:
    """Read a graph from the files of a folder with :func:`from_files`.

    The file ``edges`` is required. The files ``features``, ``labels``, ``nodes``, and
    ``split.npz`` or ``train``, ``val`` and ``test``, are optional. Each has the extension of a
    format of :func:`from_files`, such as ``edges.csv`` or ``features.npy``. A folder with ``raw``
    and ``split`` is read by :func:`from_ogb`.

    Args:
        folder: the folder
        split: the split of a folder that has labels but no split
        symmetrize: add missing reverse edges instead of refusing a directed graph
    """
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"there is no folder {place}")
    if (place / "raw").is_dir():
        return from_ogb(place, symmetrize=symmetrize)
    edges = _find(place, "edges")
    if edges is None:
        raise DataError(
            f"{place} has no file of edges: expected edges.csv, edges.npy or the like, and beside "
            "it features, labels, and split.npz or train, val and test"
        )
    labels = _find(place, "labels")
    return from_files(
        edges,
        _find(place, "features"),
        labels,
        nodes=_find(place, "nodes"),
        split=_split(place) or (split if labels else None),
        symmetrize=symmetrize,
        name=place.resolve().name,
    )


def _split(place: Path) -> SplitLike | None:
    whole = _find(place, "split")
    if whole is not None:
        return whole
    parts = {part: path for part in Split._fields if (path := _find(place, part)) is not None}
    if parts and len(parts) < len(Split._fields):
        raise DataError(
            f"{place} has {', '.join(parts)}, but a split is {', '.join(Split._fields)}"
        )
    return parts or None


def _find(place: Path, name: str) -> Path | None:
    found = [path for suffix in _SUFFIXES if (path := place / f"{name}{suffix}").is_file()]
    if len(found) > 1:
        raise DataError(f"{place} has both {found[0].name} and {found[1].name}; keep one")
    return found[0] if found else None
