"""NumPy and SciPy files, read without unpickling."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from graphsct.datasets.readers.limits import check_bytes, check_unpacked
from graphsct.errors import DataError
from graphsct.python_file import explain

__all__ = ["ARRAYS", "read_archive", "read_array"]

ARRAYS = (".npy", ".npz")
_SPARSE = {b"csr": csr_array, b"csc": csc_array}


def read_array(path: Path, keys: Sequence[str]) -> Any:
    """An array from ``.npy``, or from ``.npz`` under one of ``keys`` or as its only array;
    a CSR array from a matrix that SciPy saved.
    """
    part = read_archive(path)
    if "format" in part and "shape" in part:
        return _sparse(path, part)
    found = [part[key] for key in keys if key in part] or list(part.values())
    if len(found) != 1:
        raise DataError(
            f"{path} holds the arrays {', '.join(sorted(part))}; expected one, or one called "
            f"{' or '.join(keys)}"
        )
    return found[0]


def read_archive(path: Path) -> dict[str, Any]:
    """All arrays of a ``.npz``, or the one of a ``.npy``."""
    try:
        check_unpacked(path)
        with path.open("rb") as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers from Python 2 are read all the same
            loaded = np.load(handle, allow_pickle=False)
            part = dict(loaded) if hasattr(loaded, "files") else {"": loaded}
    except DataError:
        raise
    except Exception as error:  # a damaged header makes NumPy raise almost anything
        raise DataError(f"{path} cannot be read: {explain(error)}") from error
    if not part:
        raise DataError(f"{path} is empty")
    return part


def _sparse(path: Path, part: dict[str, Any]) -> csr_array:
    """A matrix saved by :func:`scipy.sparse.save_npz`, checked before use."""
    try:
        kind, shape = part["format"].item(), tuple(int(size) for size in part["shape"])
        kind = kind.encode() if isinstance(kind, str) else kind
        check_bytes(path, 8 * max(shape, default=0))  # of pointers to its rows, or columns
        if kind in _SPARSE:
            pieces = part["data"], part["indices"], part["indptr"]
            matrix = _SPARSE[kind](pieces, shape=shape)
            matrix.check_format(full_check=True)
        elif kind == b"coo":
            matrix = coo_array((part["data"], (part["row"], part["col"])), shape=shape)
        else:
            raise ValueError(f"the format {kind!r} is none of csr, csc and coo")
        return csr_array(matrix)
    except DataError:
        raise
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise DataError(f"{path} is not a matrix saved by SciPy: {error}") from error
