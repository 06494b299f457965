"""Splits from the user's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphsct.datasets.readers.arrays import ARRAYS, read_archive, read_array
from graphsct.datasets.readers.columns import PathLike, existing, read_columns
from graphsct.datasets.readers.numbering import Named
from graphsct.datasets.splits import Fractions, PerClass, Split, as_splits
from graphsct.errors import DataError

__all__ = ["SplitLike", "as_mask", "as_masks", "read_splits", "stack_masks"]

SplitLike = Fractions | PerClass | Split | PathLike | Mapping[str, PathLike]


def read_splits(
    split: SplitLike | None,
    y: Any,
    num_nodes: int,
    named: Named | None = None,
    **options: Any,
) -> list[Split]:
    """Splits from masks, drawn from labels, or read from files with these options for text."""
    if split is None:
        return []
    if isinstance(split, Split):
        return [split]
    if isinstance(split, Fractions | PerClass):
        if y is None:
            raise DataError(f"{split} draws by class, but there are no labels; pass labels")
        return [split.draw(y)]
    if isinstance(split, Mapping):
        if set(split) != set(Split._fields):
            raise DataError(f"split has the parts {sorted(split)}, expected train, val and test")
        paths = [existing(split[part]) for part in Split._fields]
        return [Split(*(_mask(path, num_nodes, named, **options) for path in paths))]
    path = existing(split)
    if path.suffix != ".npz":
        raise DataError(
            f"{path}: a split in one file is a .npz with train, val and test; for others pass "
            '{"train": ..., "val": ..., "test": ...}'
        )
    part = read_archive(path)
    masks = []
    for name in Split._fields:
        key = next((key for key in (name, f"{name}_mask", f"{name}_masks") if key in part), None)
        if key is None:
            raise DataError(f"{path} holds {', '.join(sorted(part))}, but no {name}")
        masks.append(as_masks(part[key], num_nodes, f"{path}, {key}"))
    return as_splits(stack_masks(masks, path))


def _mask(path: Path, num_nodes: int, named: Named | None, **options: Any) -> Any:
    if path.suffix in ARRAYS:
        return as_mask(read_array(path, ("mask", "nodes")), num_nodes, str(path))
    kind = "int64" if named is None else "string"
    options["header"] = options["header"] or False  # one name below another looks like a header
    table = read_columns(path, lambda _, first: [kind] * len(first), ids=1, **options)
    if named is None:
        rows = table.array(0)
        bad = np.flatnonzero((rows < 0) | (rows >= num_nodes))
        if len(bad):
            raise DataError(
                f"{table.where(bad[0])}: the node {rows[bad[0]]} is not in 0 .. {num_nodes - 1}"
            )
    else:
        (rows,) = named.find(table.where, table.columns[0].combine_chunks())
    return as_mask(rows, num_nodes, str(path))


def as_masks(nodes: Any, num_nodes: int, where: str) -> Any:
    """Turn masks, or one list of node numbers, into an array with one row per split.

    Args:
        nodes: booleans, with one row or one column per split if they are a matrix; or node numbers
        num_nodes: number of nodes
        where: name of the masks in an error

    Example:
        >>> as_masks(np.array([2, 0]), 3, "train")
        array([[ True, False,  True]])
    """
    if nodes.ndim == 2 and nodes.dtype.kind == "b" and num_nodes in nodes.shape:
        return nodes if nodes.shape[1] == num_nodes else nodes.T
    if nodes.ndim != 1 or nodes.dtype.kind not in "biu":
        raise DataError(
            f"{where}: an array of {nodes.dtype} and shape {nodes.shape} is neither a mask nor a "
            f"list of node numbers; there are {num_nodes} nodes"
        )
    if nodes.dtype.kind == "b":
        if len(nodes) != num_nodes:
            raise DataError(f"{where}: the mask has {len(nodes)} entries, expected {num_nodes}")
        return nodes[None]
    bad = np.flatnonzero((nodes < 0) | (nodes >= num_nodes))
    if len(bad):
        raise DataError(
            f"{where}, index {bad[0]}: the node {nodes[bad[0]]} is not in 0 .. {num_nodes - 1}"
        )
    mask = np.zeros((1, num_nodes), dtype=bool)
    mask[0, nodes.astype(np.int64)] = True
    return mask


def as_mask(nodes: Any, num_nodes: int, where: str) -> Any:
    """Turn one mask or list of node numbers into a mask; shape: ``(n,)``."""
    rows = as_masks(nodes, num_nodes, where)
    if len(rows) > 1:
        raise DataError(f"{where} holds {len(rows)} masks; put several splits into one split.npz")
    return torch.from_numpy(rows[0])


def stack_masks(masks: Sequence[Any], where: object) -> Any:
    """Masks for training, validation and testing, of which a single one serves every split.

    Args:
        masks: three arrays; shape of each: ``(k, n)`` or ``(1, n)``
        where: their name in an error

    Returns:
        an array of shape ``(3, k, n)``
    """
    counts = [len(rows) for rows in masks]
    if {*counts} - {1, max(counts)}:
        raise DataError(
            f"{where} has {', '.join(map(str, counts))} masks for training, validation and "
            "testing; expected the same number of each"
        )
    return np.stack(np.broadcast_arrays(*masks))
