"""One NumPy archive with a whole graph, in the layout of the heterophilous benchmark.

``node_features``, ``node_labels``, ``edges`` (each edge once), and ``train_masks``, ``val_masks``
and ``test_masks``, of which each row is a split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphsct.datasets.parsed import Parsed
from graphsct.datasets.readers.arrays import read_archive
from graphsct.datasets.readers.columns import PathLike, existing
from graphsct.datasets.readers.edges import check_pairs
from graphsct.datasets.readers.masks import SplitLike, as_masks, stack_masks
from graphsct.datasets.readers.parsed_data import assemble_parsed
from graphsct.errors import DataError

__all__ = ["from_npz", "read_npz"]

_MASKS = ("train_masks", "val_masks", "test_masks")


def from_npz(
    path: PathLike,
    *,
    split: SplitLike | None = None,
    normalize: bool = False,
    features: str | None = None,
    name: str | None = None,
) -> Any:
    """Read a graph from one ``.npz`` in the layout of the heterophilous benchmark.

    It holds ``edges``, each edge once, of shape ``(num_edges, 2)``, ``node_labels``, and perhaps
    ``node_features`` and the masks ``train_masks``, ``val_masks`` and ``test_masks``, of which each
    row is a split. Nothing is unpickled.

    Args:
        path: the file
        split: instead of the masks in the file
        normalize: make each row of features sum to one
        features: the features to make for a graph without any: ``degree``, ``laplacian`` or
            ``one_hot``
        name: name of the result; defaults to the name of the file
    """
    path = existing(path)
    return assemble_parsed(
        name or path.stem,
        read_npz(path),
        path,
        split=split,
        symmetrize=True,
        normalize=normalize,
        features=features,
    )


def read_npz(path: Path) -> Parsed:
    """Read the arrays, and check that they have the shapes of a graph."""
    part = read_archive(path)
    for key in ("edges", "node_labels"):
        if key not in part:
            raise DataError(
                f"{path} holds {', '.join(sorted(part))}, but no {key}; expected edges, "
                "node_labels, node_features, train_masks, val_masks and test_masks"
            )
    edges, y = part["edges"], part["node_labels"]
    if y.ndim not in (1, 2) or y.dtype.kind not in "biuf":
        raise DataError(f"{path}, node_labels: {y.dtype} {y.shape}, expected numbers for each node")
    return Parsed(
        edge_index=check_pairs(edges.T if edges.shape[1:] == (2,) else edges, f"{path}, edges"),
        x=part.get("node_features"),
        y=y if y.dtype.kind == "f" else y.astype(np.int64),
        masks=_read_masks(path, part, len(y)),
    )


def _read_masks(path: Path, part: dict[str, Any], num_nodes: int) -> Any:
    """The masks; shape: ``(3, k, n)``."""
    missing = [key for key in _MASKS if key not in part]
    if len(missing) == len(_MASKS):
        return np.empty((3, 0, num_nodes), dtype=bool)
    if missing:
        raise DataError(f"{path} has other masks, but no {missing[0]}; add it, or drop them all")
    return stack_masks([as_masks(part[key], num_nodes, f"{path}, {key}") for key in _MASKS], path)
