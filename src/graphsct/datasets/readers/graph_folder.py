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

_NAMES = ("edges", "features", "labels", "targets", "nodes", "split", *Split._fields)
_SUFFIXES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet", *ARRAYS)


def from_folder(
    folder: PathLike,
    *,
    split: SplitLike | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    features: str | None = None,
    weighted: bool = False,
) -> Any:
    """Read a graph from the files of a folder with :func:`from_files`.

    The file ``edges`` is required. The files ``features``, ``labels`` or ``targets``, ``nodes``,
    and ``split.npz`` or ``train``, ``val`` and ``test``, are optional. Each has the extension of a
    format of :func:`from_files`, such as ``edges.csv`` or ``features.npy``. If features or labels
    are missing, a file of data with any other name is refused. A folder with ``raw`` and ``split``
    is read by :func:`from_ogb`.

    Args:
        folder: the folder
        split: how to draw the split of a folder that has labels or targets, instead of its files
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        features: the features to make for a folder without any: ``degree``, ``laplacian`` or
            ``one_hot``
        weighted: take the third column of ``edges``, or the values of the matrix, as weights
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise DataError(f"there is no folder {place}")
    if (place / "raw").is_dir():
        return from_ogb(
            place, split=split, symmetrize=symmetrize, normalize=normalize, features=features
        )
    edges = _find(place, "edges")
    if edges is None:
        raise DataError(
            f"{place} has no file of edges: expected edges.csv, edges.npy or the like, and beside "
            "it features, labels or targets, and split.npz or train, val and test"
        )
    given = _find(place, "features")
    if features is not None and given is not None:
        raise DataError(f"{place} has {given.name}; leave features={features!r} out")
    labels, targets = _find(place, "labels"), _find(place, "targets")
    if given is None or (labels or targets) is None:
        _check_names(place)
    return from_files(
        edges,
        given or features,
        labels,
        targets=targets,
        nodes=_find(place, "nodes"),
        split=split or _split(place),
        symmetrize=symmetrize,
        normalize=normalize,
        weighted=weighted,
        name=place.resolve().name,
    )


def _check_names(place: Path) -> None:
    """Raise an error for a file of data that is not read, where others may be missing."""
    for path in sorted(place.iterdir()):
        name, dot, suffix = path.name.partition(".")
        kind = f"{dot}{suffix}".lower()
        if name not in _NAMES and kind in _SUFFIXES and kind != ".txt":  # such as README.txt
            raise DataError(
                f"{path} is not read: the files of a graph are {', '.join(_NAMES)}; rename it to "
                "one of these, or move it out of the folder"
            )


def _split(place: Path) -> SplitLike | None:
    whole = _find(place, "split")
    if whole is not None:
        return whole
    parts = {part: path for part in Split._fields if (path := _find(place, part)) is not None}
    if parts and len(parts) < len(Split._fields):
        raise DataError(
            f"{place} has {', '.join(parts)}, but a split needs {', '.join(Split._fields)}"
        )
    return parts or None


def _find(place: Path, name: str) -> Path | None:
    found = [path for suffix in _SUFFIXES if (path := place / f"{name}{suffix}").is_file()]
    if len(found) > 1:
        raise DataError(f"{place} has both {found[0].name} and {found[1].name}; keep one")
    return found[0] if found else None
