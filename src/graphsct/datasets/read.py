"""From checked raw files to arrays, through PyTorch Geometric's classes where those can."""

from __future__ import annotations

import shutil
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from graphsct.datasets import ogb
from graphsct.datasets.catalog import Entry
from graphsct.datasets.features import compact
from graphsct.datasets.raw import RawFile

__all__ = ["Parsed", "read"]


@dataclass(frozen=True)
class Parsed:
    """A data set as its files hold it: edges may be directed, features are not normalised.

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


def read(entry: Entry, raw: list[RawFile], scratch: Path) -> Parsed:
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
