r"""Linear maps and dropout for dense features and for sparse ones in CSR.

Bags of words are mostly zeros: as CSR they take a fraction of the time and memory. The gradient
of the weight needs :math:`\mathbf X^\top`, whose layout is found once per feature matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from graphsct.errors import ModelError
from graphsct.graph.autocast import suspended
from graphsct.graph.cache import TensorCache
from graphsct.nn.dropout import Kind
from graphsct.nn.dropout import dropout as drop

__all__ = ["Linear", "dropout"]


class _Transpose(NamedTuple):
    r""":math:`\mathbf X^\top` in CSR, and where each of its values stands in :math:`\mathbf X`."""

    matrix: Tensor
    order: Tensor


_TRANSPOSES: TensorCache[_Transpose] = TensorCache()


class Linear(torch.nn.Linear):
    r""":class:`torch.nn.Linear`, :math:`\mathbf X \mathbf W^\top + \mathbf b`, that also takes
    sparse CSR features; shapes: ``(n, in_features) -> (n, out_features)``.
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002, the name in torch.nn.Linear
        """Apply to dense or sparse CSR features."""
        _check(input, self.in_features)
        if input.layout == torch.strided:
            return super().forward(input)
        product: Tensor = _multiply(input, self.weight.t())
        return product if self.bias is None else product + self.bias


def dropout(x: Tensor, p: float, training: bool, *, kind: Kind = "nodes") -> Tensor:
    """Dropout of all entries; of a sparse CSR matrix, of the stored values.

    Args:
        x: features, dense or sparse CSR; shape: ``(n, d)``
        p: the rate, in [0, 1)
        training: without it nothing is dropped
        kind: of dense features, see :func:`graphsct.nn.dropout.dropout`
    """
    if not training or p == 0:
        return x
    if has_torch_function_unary(x):
        recorded: Tensor = handle_torch_function(dropout, (x,), x, p, training, kind=kind)
        return recorded
    if not isinstance(x, Tensor):
        return x
    dropped: Tensor = (
        _sparse_dropout(x, p) if x.layout == torch.sparse_csr else drop(x, p, kind=kind)
    )
    return dropped


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _sparse_dropout(x: Tensor, p: float) -> Tensor:
    transpose = _transpose(x)
    values = drop(x.values(), p, kind="values")
    dropped = _with_values(x, values)
    other = _Transpose(_with_values(transpose.matrix, values[transpose.order]), transpose.order)
    _TRANSPOSES.put((dropped,), other)
    return dropped


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _multiply(x: Tensor, dense: Tensor) -> Tensor:
    if x.requires_grad:
        raise ModelError("sparse features take no gradient; use x.to_dense().requires_grad_()")
    with suspended(x.device):
        if not (torch.is_grad_enabled() and dense.requires_grad):
            return x @ dense
        return _Product.apply(x, _transpose(x).matrix, dense)  # type: ignore[no-any-return, no-untyped-call]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.pair = x, transpose
        return x @ dense

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, transpose = ctx.pair
        with suspended(x.device):
            return None, None, _Product.apply(transpose, x, grads[0])  # type: ignore[no-untyped-call]


def _transpose(x: Tensor) -> _Transpose:
    def build() -> _Transpose:
        columns, starts = x.col_indices(), x.crow_indices()
        order = torch.argsort(columns, stable=True)
        rows = torch.arange(x.shape[0], device=x.device).repeat_interleave(starts.diff())
        counts = torch.bincount(columns, minlength=x.shape[1])
        matrix = torch.sparse_csr_tensor(
            torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
            rows[order],
            x.values()[order],
            size=(x.shape[1], x.shape[0]),
            check_invariants=False,
        )
        return _Transpose(matrix, order)

    return _TRANSPOSES.get_or_build((x,), build)


def _with_values(x: Tensor, values: Tensor) -> Tensor:
    starts, columns = x.crow_indices(), x.col_indices()
    return torch.sparse_csr_tensor(starts, columns, values, size=x.shape, check_invariants=False)


def _check(x: Any, channels: int) -> None:
    if not isinstance(x, Tensor) or x.layout not in (torch.strided, torch.sparse_csr):
        kind = x.layout if isinstance(x, Tensor) else type(x).__name__
        hint = ": x.to_sparse_csr()" if isinstance(x, Tensor) else ""
        raise ModelError(f"features are a {kind}, expected a dense or sparse CSR tensor{hint}")
    if x.dim() != 2 or x.shape[1] != channels:
        raise ModelError(
            f"features have shape {tuple(x.shape)}, expected (n, {channels}): "
            f"build with in_channels={x.shape[-1] if x.dim() else 1} if the features are right"
        )
