"""Files with a row for each node: features, classes, labels and numbers, perhaps with ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from graphsct.datasets.readers.arrays import ARRAYS, read_array
from graphsct.datasets.readers.columns import PathLike, existing, is_number, read_columns
from graphsct.datasets.readers.numbering import Named
from graphsct.errors import DataError

__all__ = ["read_features", "read_labels", "read_numbers"]

_ID_NAMES = {"id", "node", "node_id", "name", "index"}


def read_features(path: PathLike | None, **options: Any) -> tuple[Any, Named | None]:
    """Features, dense or sparse; shape: ``(n, d)``."""
    if path is None:
        return None, None
    path = existing(path)
    if path.suffix in ARRAYS:
        x = read_array(path, ("x", "features"))
        if x.ndim != 2:
            raise DataError(f"{path} holds an array of shape {x.shape}, expected (n, d)")
        return x, None
    return _read_table(path, blanks=False, **options)


def _read_table(path: Path, *, blanks: bool, **options: Any) -> tuple[Any, Named | None]:
    """The numbers in a table, and the ids in its first column, if there are some.

    Args:
        path: the file
        blanks: take an empty field as NaN instead of refusing it
        options: of the text
    """

    def types(names: Sequence[str] | None, first: Sequence[str]) -> Sequence[str]:
        has_ids = _has_ids(names, first)
        return ["string"] * has_ids + ["float"] * (len(first) - has_ids)

    table = read_columns(path, types, ids=1, **options)
    has_ids = "string" in str(table.columns[0].type)
    columns = range(int(has_ids), len(table.columns))
    if not columns:
        raise DataError(f"{path} has ids but no numbers beside them")
    x = np.empty((len(table.columns[0]), len(columns)), dtype=np.float32)
    for place, column in enumerate(columns):
        x[:, place] = table.columns[column].to_numpy() if blanks else table.array(column)
    return x, Named.of(table) if has_ids else None


def _has_ids(names: Sequence[str] | None, first: Sequence[str]) -> bool:
    named = names is not None and names[0] in _ID_NAMES
    return named or bool(first[0].strip() and not is_number(first[0]))


def read_numbers(path: PathLike, keys: Sequence[str], **options: Any) -> tuple[Any, Named | None]:
    """Numbers to predict; shape: ``(n,)`` or ``(n, t)``."""
    path = existing(path)
    ids = None
    if path.suffix in ARRAYS:
        values = read_array(path, keys)
        if issparse(values) or values.dtype.kind not in "biuf" or values.ndim not in (1, 2):
            raise DataError(f"{path} does not hold numbers for each node")
    else:
        values, ids = _read_table(path, blanks=True, **options)
    values = values.astype(np.float32)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values, ids


def read_labels(path: PathLike | None, **options: Any) -> tuple[Any, Named | None]:
    """One class per node; or labels of 0 and 1, of shape ``(n, t)``."""
    if path is None:
        return None, None
    path = existing(path)
    keys = ("y", "labels")
    if path.suffix in ARRAYS:
        values = read_array(path, keys)
        if issparse(values) or not values.ndim:
            raise DataError(f"{path} does not hold one class per node")
        if values.ndim == 1 or values.shape[1] == 1:
            return values.reshape(-1), None
        return _check_binary(path, *read_numbers(path, keys))

    table = read_columns(path, lambda _, first: ["string"] * len(first), ids=1, **options)
    if len(table.columns) > 2:
        return _check_binary(path, *read_numbers(path, keys, **options))
    values = np.array(table.columns[-1].fill_null("-1").to_pylist())
    if len(table.columns) == 2:
        return values, Named.of(table)
    table.check_first_row(values[0] in values[1:], "label")
    return values, None


def _check_binary(path: Path, values: Any, ids: Named | None) -> tuple[Any, Named | None]:
    wrong = np.argwhere(~(np.isnan(values) | (values == 0) | (values == 1)))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"{path}: label {column} of row {row} is {values[row, column]:g}; several labels are 0 "
            "or 1 each, a single class is one column, and numbers to predict belong into targets="
        )
    return values, ids
