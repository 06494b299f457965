"""Feature matrices: checked, normalised, dense, and sparse where training gains by it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from torch import Tensor

from graphsct.errors import DataError
from graphsct.graph.cache import TensorCache

__all__ = [
    "DENSE_LIMIT",
    "as_numbers",
    "check_features",
    "compact",
    "from_tensor",
    "normalize_rows",
    "readable",
    "sparse_features",
    "to_tensor",
]

#: Features whose dense form takes more bytes stay sparse.
DENSE_LIMIT = 512 * 2**20

_SPARSE: TensorCache[Tensor] = TensorCache()


def compact(x: Any) -> Any:
    """The smaller of CSR and dense, in float32; ``(n, d) -> (n, d)``."""
    entries = x.nnz if issparse(x) else int(np.count_nonzero(x))
    if not _is_smaller(entries, x.shape):
        return np.ascontiguousarray(x.toarray() if issparse(x) else x, dtype=np.float32)
    matrix = csr_array(x, dtype=np.float32)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _is_smaller(entries: int, shape: Sequence[int], itemsize: int = 4) -> bool:
    """Whether CSR takes fewer bytes than dense, with 32-bit indices of columns and rows."""
    rows, columns = shape
    return (itemsize + 4) * entries + 4 * (rows + 1) < itemsize * rows * columns


def readable(x: Any) -> Any:
    """Dense float32, which every library takes, unless that exceeds :data:`DENSE_LIMIT`."""
    rows, columns = x.shape
    if 4 * rows * columns > DENSE_LIMIT:
        return compact(x)
    return np.ascontiguousarray(x.toarray() if issparse(x) else x, dtype=np.float32)


def sparse_features(x: Tensor) -> Tensor:
    """The features in CSR if that is smaller, as training prefers them; made once and kept.

    Args:
        x: features in any layout; those that are part of an autograd graph stay as they are
    """
    if x.layout != torch.strided or x.requires_grad or x.dtype not in (torch.float, torch.double):
        return x
    kept = _SPARSE.get((x,))
    if kept is not None:
        return kept
    if not _is_smaller(int(x.count_nonzero()), x.shape, x.element_size()):
        return x
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        found = x.to_sparse_csr()
        rows, columns = found.crow_indices().int(), found.col_indices().int()
        matrix = torch.sparse_csr_tensor(
            rows, columns, found.values(), size=x.shape, check_invariants=False
        )
    return _SPARSE.put((x,), matrix)


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
    if not x.shape[1]:
        raise DataError(
            f"{where} has no columns; leave it out and make features from the edges: "
            "features='degree'"
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


def as_numbers(values: Any, where: str) -> Tensor:
    """Numbers in any form as a tensor on the CPU, without a gradient."""
    try:
        return torch.as_tensor(values).detach().cpu()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{where} is a {type(values).__name__} without numbers: {reason}"
        ) from error


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
    x = x.detach().cpu()
    if x.dtype == torch.bfloat16:  # NumPy has no such type
        x = x.float()
    if x.layout == torch.strided:
        return x.numpy()
    x = x.to_sparse_csr()
    parts = (x.values(), x.col_indices(), x.crow_indices())
    return csr_array(tuple(part.numpy() for part in parts), tuple(x.shape))
