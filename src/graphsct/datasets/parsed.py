"""The content of a data set's files as arrays, and its processed form on disk.

The processed form is one NumPy archive per data set, which is either complete or not there.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse

from graphsct.datasets.catalog import Entry
from graphsct.datasets.paths import cache_folder
from graphsct.datasets.raw import RawFile
from graphsct.datasets.splits import Split, as_splits

__all__ = ["Parsed", "path_for", "restore", "save"]

_FORMAT = "2"


@dataclass(frozen=True)
class Parsed:
    """The content of the files of a data set: edges may be directed, features are not normalised.

    Args:
        edge_index: shape: ``(2, num_edges)``
        x: dense or CSR, ``None`` if the files have no features; shape: ``(n, d)``
        y: -1 where there is no label; shape: ``(n,)``
        masks: training, validation and test masks of every split; shape: ``(3, k, n)``
        year: the year of each node, ``None`` if the files have none; shape: ``(n,)``
    """

    edge_index: Any
    x: Any
    y: Any
    masks: Any
    year: Any = None

    @property
    def splits(self) -> list[Split]:
        """The masks as splits."""
        return as_splits(self.masks)

    @property
    def more(self) -> dict[str, Any]:
        """Further attributes of a ``Data``."""
        return {} if self.year is None else {"node_year": torch.from_numpy(self.year)}


def path_for(entry: Entry, raw: list[RawFile] | None) -> Path:
    """Where the processed form of these raw files is kept; ``None`` stands for the right files."""
    found = [entry.sha256(name) for name in entry.raw] if raw is None else [f.sha256 for f in raw]
    content = hashlib.sha256("\n".join([_FORMAT, *map(str, found)]).encode()).hexdigest()
    return cache_folder() / "processed" / f"{entry.name}-{content[:16]}.npz"


def save(parsed: Parsed, path: Path, scratch: Path) -> None:
    """Write the archive into ``scratch``, then move it to ``path``."""
    part = dict(edge_index=parsed.edge_index, y=parsed.y, masks=parsed.masks)
    if issparse(parsed.x):
        part |= dict(data=parsed.x.data, indices=parsed.x.indices, indptr=parsed.x.indptr)
        part |= dict(shape=np.array(parsed.x.shape))
    elif parsed.x is not None:
        part |= dict(x=parsed.x)
    if parsed.year is not None:
        part |= dict(year=parsed.year)
    new = scratch / "processed.npz"
    with new.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **part)
        handle.flush()
        os.fsync(handle.fileno())
    new.replace(path)


def restore(path: Path) -> Parsed | None:
    """Read an archive; ``None`` if it is missing or damaged, by its own checksums."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            part = dict(file)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
    x = part.get("x")
    if "indptr" in part:
        x = csr_array((part["data"], part["indices"], part["indptr"]), shape=tuple(part["shape"]))
    return Parsed(part["edge_index"], x, part["y"], part["masks"], part.get("year"))
