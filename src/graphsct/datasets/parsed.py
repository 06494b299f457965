"""Data sets as arrays: parsed from checked raw files, and kept on disk.

PyTorch Geometric's classes parse the files where they can. The processed form is one NumPy archive
per data set, which is either complete or not there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from graphsct.datasets.catalog import Entry
from graphsct.datasets.features import compact
from graphsct.datasets.paths import cache_folder
from graphsct.datasets.raw import RawFile
from graphsct.datasets.readers import ogb

__all__ = ["Parsed", "parse", "path_for", "restore", "save"]

_FORMAT = "1"


@dataclass(frozen=True)
class Parsed:
    """The content of the files of a data set: edges may be directed, features are not normalised.

    Args:
        edge_index: shape: ``(2, num_edges)``
        x: dense or CSR; shape: ``(n, d)``
        y: -1 where there is no label; shape: ``(n,)``
        masks: training, validation and test masks of every split; shape: ``(3, k, n)``
    """

    edge_index: Any
    x: Any
    y: Any
    masks: Any


def parse(entry: Entry, raw: list[RawFile], scratch: Path) -> Parsed:
    """Parse checked raw files; PyTorch Geometric may write into ``scratch``."""
    if entry.source == "OGB":
        return _read_ogb(raw[0].path.parents[1])
    if entry.source == "Coauthor":
        return _read_coauthor(raw[0].path)
    folder = scratch / entry.folder
    folder.mkdir(parents=True)
    for file in raw:
        shutil.copyfile(file.path, folder / file.name)
    import torch_geometric.datasets

    # Planetoid's files are pickles. They may be loaded because their checksums were right.
    dataset: Any = getattr(torch_geometric.datasets, entry.source)
    with redirect_stderr(StringIO()):  # it announces itself there
        data = dataset(str(scratch / entry.source), entry.key)[0]
    masks = (data.train_mask, data.val_mask, data.test_mask)
    y = data.y.numpy()
    if entry.source == "Planetoid":
        y[_without_label_row(folder / entry.raw[-1], len(y))] = -1
    return Parsed(
        edge_index=data.edge_index.numpy(),
        x=compact(data.x.numpy()),
        y=y,
        masks=np.stack([mask.numpy().reshape(len(y), -1).T for mask in masks]),
    )


def _without_label_row(test_index: Path, num_nodes: int) -> Any:
    """Nodes that the label files skip: 15 in Citeseer, which PyG would call class 0."""
    listed = np.loadtxt(test_index, dtype=np.int64)
    return np.setdiff1d(np.arange(listed.min(), num_nodes), listed)


def _read_coauthor(path: Path) -> Parsed:
    """Like PyG's ``Coauthor``, which would build the features as a dense matrix first."""
    with np.load(path, allow_pickle=False) as file:
        part = dict(file)

    def matrix(name: str) -> csr_array:
        pieces = tuple(part[f"{name}_{piece}"] for piece in ("data", "indices", "indptr"))
        return csr_array(pieces, shape=tuple(part[f"{name}_shape"]))

    x = matrix("attr")
    x.data = (x.data > 0).astype(np.float32)  # PyG's classes take words as there or not
    y = part["labels"].astype(np.int64)
    edge_index = np.stack(matrix("adj").tocoo().coords).astype(np.int64)
    return Parsed(edge_index, compact(x), y, np.empty((3, 0, len(y)), dtype=bool))


def _read_ogb(folder: Path) -> Parsed:
    table = ogb.read_folder(folder, "time")
    n = table.num_nodes
    masks = np.zeros((3, 1, n), dtype=bool)
    for mask, nodes in zip(masks[:, 0], table.split, strict=True):
        mask[nodes] = True
    return Parsed(table.edge_index, compact(table.x), table.y, masks)


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
    else:
        part |= dict(x=parsed.x)
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
    if "x" in part:
        x = part["x"]
    else:
        x = csr_array((part["data"], part["indices"], part["indptr"]), shape=tuple(part["shape"]))
    return Parsed(part["edge_index"], x, part["y"], part["masks"])
