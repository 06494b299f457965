"""Feature matrices: checked, normalised, and sparse where that is smaller."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from torch import Tensor

from graphsct.errors import DataError

__all__ = ["check_features", "compact", "from_tensor", "normalize_rows", "to_tensor"]


def compact(x: Any) -> Any:
    """The smaller of CSR and dense, in float32; ``(n, d) -> (n, d)``.

    CSR with 32-bit indices takes 8 bytes per entry and 4 per row, dense 4 bytes per number.
    """
    rows, columns = x.shape
    entries = x.nnz if issparse(x) else int(np.count_nonzero(x))
    if 8 * entries + 4 * (rows + 1) >= 4 * rows * columns:
        return np.ascontiguousarray(x.toarray() if issparse(x) else x, dtype=np.float32)
    matrix = csr_array(x, dtype=np.float32)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def normalize_rows(x: Any) -> Any:
    r"""Rows that sum to one, :math:`x_{ij} / \sum_k |x_{ik}|`; a row of zeros stays so."""
    total = np.asarray(abs(x).sum(axis=1)).ravel()
    scale = np.divide(1, total, out=np.zeros_like(total), where=total > 0).astype(np.float32)
    if not issparse(x):
        return x * scale[:, None]
    return csr_array((x.data * np.repeat(scale, np.diff(x.indptr)), x.indices, x.indptr), x.shape)


def check_features(x: Any, num_nodes: int, where: str) -> Any:
    """Return ``x`` if it has one row of numbers per node, all finite in float32."""
    if x.ndim != 2 or x.shape[0] != num_nodes:
        raise DataError(
            f"{where} has shape {x.shape}, expected ({num_nodes}, d): one row for each node"
        )
    values = x.data if issparse(x) else x
    if values.dtype.kind not in "fiub":
        raise DataError(f"{where} holds {values.dtype}, expected numbers")
    bad = ~(np.abs(values) <= np.finfo(np.float32).max)  # also for NaN
    if bad.any():
        if issparse(x):
            entry = int(np.flatnonzero(bad)[0])
            row = int(np.searchsorted(x.indptr, entry, side="right")) - 1
            column, value = int(x.indices[entry]), values[entry]
        else:
            row, column = (int(i) for i in np.argwhere(bad)[0])
            value = x[row, column]
        raise DataError(
            f"{where} holds {value} in row {row}, column {column}, which is not a finite float32; "
            "fill it in or drop the column"
        )
    return x


def to_tensor(x: Any) -> Tensor:
    """A dense tensor, or one in ``torch.sparse_csr`` with 32-bit indices; shares memory."""
    if not issparse(x):
        return torch.from_numpy(x)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return torch.sparse_csr_tensor(
            torch.from_numpy(x.indptr.astype(np.int32, copy=False)),
            torch.from_numpy(x.indices.astype(np.int32, copy=False)),
            torch.from_numpy(x.data),
            size=x.shape,
            check_invariants=False,
        )


def from_tensor(x: Tensor) -> Any:
    """The inverse of :func:`to_tensor`, also of other sparse layouts; shares memory if it can."""
    if x.layout == torch.strided:
        return x.numpy()
    x = x.to_sparse_csr()
    parts = (x.values(), x.col_indices(), x.crow_indices())
    return csr_array(tuple(part.numpy() for part in parts), tuple(x.shape))
