"""Checks and norms of features, shared by the measures."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import Graph, kernels

__all__ = [
    "check_finite",
    "check_labels",
    "check_matrix",
    "moderate",
    "norm",
    "rough_part",
    "rows_for_pairs",
    "unit_rows",
]

#: Pairs of nodes that are compared at a time.
_PAIRS = 1 << 24


def rough_part(x: Tensor, graph: Graph) -> Tensor:
    """The part of features outside the eigenspace; shapes: ``(n, d) -> (n, d)``."""
    graph.check_whole()
    return graph.project(x).neg_().add_(x)  # x - project(x) with one array less


def rows_for_pairs(x: Tensor) -> tuple[Tensor, ...]:
    """The nodes in groups, of which each is small enough to be compared with all nodes."""
    return torch.split(x, max(1, _PAIRS // len(x)))


def norm(x: Tensor) -> Tensor:
    """The Frobenius norm; shapes: ``(n, d) -> ()``."""
    return kernels.column_norm(x.reshape(-1, 1)).squeeze(0)


def unit_rows(x: Tensor) -> Tensor:
    """The direction of each node's features, zero if they are all zero; ``(n, d) -> (n, d)``."""
    if not x.numel():
        return x
    length = check_finite(kernels.column_norm(x.t()), x)
    return x / torch.where(length > 0, length, 1).unsqueeze(1)


def moderate(x: Tensor, norm_of: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Features and their norm, on a scale where squares and gradients do not overflow.

    For measures that do not depend on the scale; features of moderate size are returned unchanged.
    """
    size = norm_of(x)
    edge = torch.finfo(x.dtype).tiny ** 0.25
    if bool(((edge < size) & (size < 1 / edge)).all()):
        return x, size
    x = x / torch.where((size > 0) & size.isfinite(), size, 1).detach()
    return x, norm_of(x)


def check_matrix(x: Tensor) -> Tensor:
    """Return ``x`` if it is a dense floating point matrix, in float32 if its precision is lower."""
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise GraphError(f"features are {what}, expected a floating point tensor (n, d)")
    if x.layout != torch.strided:
        raise GraphError(f"features are {x.layout}, expected a dense tensor; use x.to_dense()")
    if x.is_meta:
        raise GraphError("features are on 'meta', where tensors have no values")
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def check_labels(labels: Tensor, name: str, x: Tensor) -> Tensor:
    """Return ``labels`` if they are one whole number per row of ``x``."""
    if not isinstance(labels, Tensor):
        what = repr(labels)
    elif labels.dtype != torch.long or labels.shape != x.shape[:1]:
        what = f"{labels.dtype} {tuple(labels.shape)}"
    else:
        return labels
    raise GraphError(f"{name} is {what}, expected a torch.int64 tensor ({len(x)},)")


def check_finite(value: Tensor, x: Tensor) -> Tensor:
    """Return ``value`` if it is finite, else raise an error that names the wrong entry of ``x``."""
    if bool(torch.isfinite(value).all()):
        return value
    bad = (~torch.isfinite(x)).nonzero()
    if len(bad):
        where = tuple(bad[0].tolist())
        raise GraphError(
            f"x{list(where)} is {x[where].item()} ({len(bad)} such entries); "
            "repair it, for instance with x.nan_to_num()"
        )
    raise GraphError(
        f"features as large as {x.abs().max().item():.3g} overflow {x.dtype}; "
        "scale them down or use float64"
    )
