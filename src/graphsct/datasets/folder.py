"""The user's own graph, from a folder whose files have the names that they deserve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphsct.datasets.arrays import ARRAYS
from graphsct.datasets.convert import from_ogb
from graphsct.datasets.files import from_files
from graphsct.datasets.masks import SplitLike
from graphsct.datasets.text import TEXT, PathLike
from graphsct.errors import DataError

__all__ = ["from_folder"]

_SUFFIXES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet", *ARRAYS)
_PARTS = ("train", "val", "test")


def from_folder(
    folder: PathLike, *, split: SplitLike | None = None, symmetrize: bool = False
) -> Any:
    """Read a graph from a folder, as :func:`from_files` would.

    ``edges`` must be there; ``features``, ``labels``, ``nodes``, and ``split.npz`` or ``train``,
    ``val`` and ``test`` are taken if they are. Each has the ending of a format of
    :func:`from_files`, such as ``edges.csv`` or ``features.npy``. A folder with ``raw`` and
    ``split`` is one of the Open Graph Benchmark, see :func:`from_ogb`.

    Args:
        folder: where the files are
        split: if the folder has labels but no split
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
    parts = {part: path for part in _PARTS if (path := _find(place, part)) is not None}
    if parts and len(parts) < len(_PARTS):
        raise DataError(f"{place} has {', '.join(parts)}, but a split is {', '.join(_PARTS)}")
    return parts or None


def _find(place: Path, name: str) -> Path | None:
    found = [path for suffix in _SUFFIXES if (path := place / f"{name}{suffix}").is_file()]
    if len(found) > 1:
        raise DataError(f"{place} has both {found[0].name} and {found[1].name}; keep one")
    return found[0] if found else None
