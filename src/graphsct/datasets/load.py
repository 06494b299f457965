"""The data sets by name, checked and made undirected."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphsct.datasets.assemble import assemble, self_loops
from graphsct.datasets.catalog import Entry, find
from graphsct.datasets.duplicates import Leak, find_leaks, without_duplicates
from graphsct.datasets.features import from_tensor, normalize_rows, to_tensor
from graphsct.datasets.made_features import check_present
from graphsct.datasets.parse import parse
from graphsct.datasets.parsed import Parsed, path_for, restore, save
from graphsct.datasets.paths import data_root, lock, temporary_folder
from graphsct.datasets.raw import RawFile, download, locate, look
from graphsct.datasets.splits import PerClass, Split, TorchPerClass
from graphsct.datasets.synthetic import GENERATED
from graphsct.errors import DataError
from graphsct.graph import Graph

__all__ = ["is_here", "leaks", "load", "verify"]

Root = str | os.PathLike[str] | None


def load(
    name: str,
    root: Root = None,
    *,
    split: int = 0,
    seed: int = 0,
    normalize: bool = False,
    drop_duplicates: bool = False,
    features: str | None = None,
) -> Any:
    """Load a data set of the catalogue as a PyTorch Geometric ``Data`` with a ``graph``.

    It has ``edge_index`` (both directions of every edge once, and the self-loops of the files),
    ``x`` (dense, or ``torch.sparse_csr`` if the dense form would exceed 512 MiB, as that of Physics
    does), ``y`` (-1 for a node without a label), ``train_mask``, ``val_mask`` and ``test_mask``,
    ``splits`` (a list of all splits, each with ``train``, ``val`` and ``test``), ``num_classes``,
    ``num_outputs``, ``metric`` (the usual score, ``accuracy`` or ``roc_auc``) and ``name``. Its
    ``graph`` follows the edges: edit or replace ``edge_index``, and the next use builds the new
    graph.

    Args:
        name: a name in ``CATALOG``, in upper or lower case, or ``demo`` or ``arxiv_like``, which
            are generated
        root: folder with the raw files in PyTorch Geometric's layout; defaults to
            ``GRAPHSCT_DATA``, else to the platform's cache folder. Missing files are downloaded.
            Processed files go into the cache folder (``GRAPHSCT_CACHE``), never below a root.
        split: number of one of the splits of a set with several, such as Texas
        seed: seed of generated data, and of the split of a set whose files have none, such as
            Physics; no other set depends on it
        normalize: make each row of features sum to one, as in the papers of GCN and GCNII; off by
            default, because it costs our GCN about four points on Cora (``docs/choices.md``)
        drop_duplicates: keep one node of each group of duplicates of Chameleon or Squirrel
        features: the features to make for ``arxiv_graph``, which has none: ``degree``,
            ``laplacian`` or ``one_hot``

    Example:
        >>> data = load("demo")
        >>> data.graph
        Graph(num_nodes=300, num_edges=900, num_components=3)
    """
    if isinstance(name, str) and name.lower() in GENERATED:
        if split or drop_duplicates or features:
            raise DataError(
                f"{name} is generated, with one split, features and no duplicates; leave split, "
                "features and drop_duplicates out"
            )
        data = GENERATED[name.lower()](seed)
        if normalize:
            data.x = to_tensor(normalize_rows(from_tensor(data.x)))
        return data
    entry = find(name)
    parsed = _parsed(entry, root)
    if drop_duplicates:
        parsed = without_duplicates(_with_duplicates(entry, parsed))
    y = torch.from_numpy(parsed.y)
    data = assemble(
        entry.name,
        graph=Graph(parsed.edge_index, len(y), symmetrize=True),
        loops=self_loops(parsed.edge_index),
        x=parsed.x,
        y=y,
        splits=_drawn(entry, y, seed) or parsed.splits,
        split=split,
        normalize=normalize,
        features=features,
        metric=entry.metric,
        **parsed.more,
    )
    return check_present(data)


def _drawn(entry: Entry, y: Tensor, seed: int) -> list[Split]:
    """The split of a set whose files have none: 20 nodes of each class, and 30."""
    if entry.split == "drawn":
        return [PerClass(train=20, val=30, seed=seed).draw(y)]
    if entry.split == "egnn":
        return [TorchPerClass(train=20, val=30, seed=100).draw(y)]
    return []


def is_here(name: str, root: Root = None) -> bool:
    """Whether :func:`load` works without a download."""
    entry = find(name)
    return locate(entry, data_root(root)) is not None or path_for(entry, None).is_file()


def leaks(name: str, root: Root = None) -> list[Leak]:
    """Count the test nodes with a duplicate in training, per split of Chameleon or Squirrel."""
    entry = find(name)
    return find_leaks(_with_duplicates(entry, _parsed(entry, root)))


def verify(name: str, root: Root = None) -> list[RawFile]:
    """Compare the checksum of every raw file of a data set. Nothing is downloaded."""
    return look(find(name), data_root(root))


def _with_duplicates(entry: Entry, parsed: Parsed) -> Parsed:
    if entry.source != "WikipediaNetwork":
        raise DataError(
            f"{entry.title} has no known duplicates; only chameleon and squirrel have some"
        )
    return parsed


def _parsed(entry: Entry, root: Root) -> Parsed:
    """The data set from the cache, else from its raw files, one process at a time."""
    place = data_root(root)
    raw = locate(entry, place)
    parsed = restore(path_for(entry, raw))
    if parsed is not None:
        return parsed
    if raw is None:
        raw = download(entry, place)
    path = path_for(entry, raw)
    with lock(path.parent, entry.name):
        parsed = restore(path)  # another process may have been faster
        if parsed is None:
            with temporary_folder(path.parent, entry.name) as scratch:
                parsed = parse(entry, raw, scratch)
                if any(file.state == "unchecked" for file in raw):
                    _check_counts(entry, parsed)
                save(parsed, path, scratch)
    return parsed


def _check_counts(entry: Entry, parsed: Parsed) -> None:
    """Check the counts of a data set whose files have no published checksums."""
    found: dict[str, Any] = {
        "nodes": len(parsed.y),
        "features": 0 if parsed.x is None else parsed.x.shape[1],
        "classes": len(np.unique(parsed.y[parsed.y >= 0])),
    }
    expected = {key: getattr(entry.facts, key) for key in found}
    if entry.paper is not None:
        sizes = "/".join(f"{int(n):,}" for n in parsed.masks.sum(axis=(1, 2)))
        found |= {"edges": parsed.edge_index.shape[1], "split": sizes}
        expected |= {"edges": entry.paper.edges, "split": entry.paper.split}
    if found != expected:
        raise DataError(f"these are not the files of {entry.title}: {found} is not {expected}")
