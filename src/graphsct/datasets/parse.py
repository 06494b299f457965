"""Raw files of the catalogue, parsed after their checksums were found right.

PyTorch Geometric's classes parse the files where they can.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from graphsct.datasets.catalog import Entry
from graphsct.datasets.features import compact
from graphsct.datasets.parsed import Parsed
from graphsct.datasets.raw import RawFile
from graphsct.datasets.readers.npz import read_npz
from graphsct.datasets.readers.ogb import read_folder
from graphsct.errors import DataError

__all__ = ["parse"]


def parse(entry: Entry, raw: list[RawFile], scratch: Path) -> Parsed:
    """Parse checked raw files; PyTorch Geometric may write into ``scratch``."""
    if entry.source in _READERS:
        try:
            return _READERS[entry.source](raw[0].path)
        except (KeyError, ValueError, TypeError, OSError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{raw[0].path} is not {entry.title}'s file: {error!r}") from error
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


def _read_gnn_benchmark(path: Path) -> Parsed:
    """Like PyG's ``Coauthor`` and ``Amazon``, which would build the features as a dense matrix."""
    with np.load(path, allow_pickle=False) as file:

        def matrix(name: str) -> csr_array:
            pieces = tuple(file[f"{name}_{piece}"] for piece in ("data", "indices", "indptr"))
            return csr_array(pieces, shape=tuple(file[f"{name}_shape"]))

        x, adjacency, y = matrix("attr"), matrix("adj").tocoo(), file["labels"].astype(np.int64)
    x.data = (x.data > 0).astype(np.float32)  # PyG's classes take words as there or not
    edge_index = np.stack(adjacency.coords).astype(np.int64)
    return Parsed(edge_index, compact(x), y, np.empty((3, 0, len(y)), dtype=bool))


def _read_wikics(path: Path) -> Parsed:
    """The file of PyG's ``WikiCS``: a list of links per node, and one test mask for all splits."""
    content = json.loads(path.read_text(encoding="utf-8"))
    pairs = [(node, other) for node, others in enumerate(content["links"]) for other in others]
    masks = [np.array(content[name], dtype=bool) for name in ("train_masks", "val_masks")]
    test = np.broadcast_to(np.array(content["test_mask"], dtype=bool), masks[0].shape)
    return Parsed(
        edge_index=np.array(pairs, dtype=np.int64).T,
        x=compact(np.array(content["features"], dtype=np.float32)),
        y=np.array(content["labels"], dtype=np.int64),
        masks=np.stack([*masks, test]),
    )


def _read_ogb(edges: Path) -> Parsed:
    return _compacted(read_folder(edges.parents[1], "time"))


def _read_heterophilous(path: Path) -> Parsed:
    return _compacted(read_npz(path))


def _compacted(parsed: Parsed) -> Parsed:
    return parsed if parsed.x is None else replace(parsed, x=compact(parsed.x))


#: Sources whose files are read here, from the first of them.
_READERS: dict[str, Callable[[Path], Parsed]] = {
    "Amazon": _read_gnn_benchmark,
    "Coauthor": _read_gnn_benchmark,
    "HeterophilousGraphDataset": _read_heterophilous,
    "OGB": _read_ogb,
    "WikiCS": _read_wikics,
}
