"""Processed data sets on disk: one NumPy archive each, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, issparse

from graphsct.datasets.catalog import Entry
from graphsct.datasets.paths import cache_folder
from graphsct.datasets.raw import RawFile
from graphsct.datasets.read import Parsed

__all__ = ["path_for", "restore", "save"]

_FORMAT = "1"


def path_for(entry: Entry, raw: list[RawFile] | None) -> Path:
    """Where the processed form of these raw files is kept; the right ones if ``None``."""
    found = [entry.sha256(name) for name in entry.raw] if raw is None else [f.sha256 for f in raw]
    content = hashlib.sha256("\n".join([_FORMAT, *map(str, found)]).encode()).hexdigest()
    return cache_folder() / "processed" / f"{entry.name}-{content[:16]}.npz"


def save(parsed: Parsed, path: Path, scratch: Path) -> None:
    """Write to a temporary name beside ``path``, then rename."""
    part = dict(edge_index=parsed.edge_index, y=parsed.y, masks=parsed.masks)
    if issparse(parsed.x):
        part |= dict(data=parsed.x.data, indices=parsed.x.indices, indptr=parsed.x.indptr)
        part |= dict(shape=np.array(parsed.x.shape))
    else:
        part |= dict(x=parsed.x)
    new = scratch / "processed.npz"
    with new.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **part)
        handle.flush()
        os.fsync(handle.fileno())
    new.replace(path)


def restore(path: Path) -> Parsed | None:
    """Read it back; ``None`` if it is not there or, by the archive's own checksums, damaged."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            part = dict(file)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
    if "x" in part:
        x = part["x"]
    else:
        x = csr_array((part["data"], part["indices"], part["indptr"]), shape=tuple(part["shape"]))
    return Parsed(part["edge_index"], x, part["y"], part["masks"])
