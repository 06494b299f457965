"""A second kernel for dense products, for processors on which PyTorch's own is slow.

PyTorch multiplies dense float32 matrices with Intel's MKL, which uses only half the width of
AVX-512 on AMD processors. The kernels of oneDNN, which also come with PyTorch, use the full width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

__all__ = ["dense_addmm_of", "threshold"]

#: The gradient of ReLU: the first argument, and zero where the second is not above the third.
threshold = torch.ops.aten.threshold_backward.grad_input
#: The smallest side, and the number of multiplications, from which oneDNN is faster.
_SIDE, _MANY = 32, 1 << 21
#: Numbers of a product that are computed at once, since the kernel returns a new array.
_BLOCK = 1 << 20


def dense_addmm_of(x: Tensor, w: Tensor) -> Callable[..., Tensor]:
    """The fastest function for dense products of these shapes, ``(n, d), (d, e)``; it takes and
    returns what :func:`torch.addmm` does, with ``out``.
    """
    sides = *x.shape, w.shape[1]
    large = min(sides) >= _SIDE and sides[0] * sides[1] * sides[2] >= _MANY
    single = x.dtype == torch.float32 and x.device.type == "cpu"
    # Columns of a wider array can take a thousand times as long.
    whole = _is_whole(x) and _is_whole(w)
    return _addmm if large and single and whole and _linear() is not None else torch.addmm


def _is_whole(x: Tensor) -> bool:
    return x.is_contiguous() or x.t().is_contiguous()


def _addmm(
    start: Tensor,
    x: Tensor,
    w: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """Like :func:`torch.addmm`; if ``beta`` is 0, zero wherever ``mask`` is not positive."""
    rows = max(1, _BLOCK // out.shape[1])
    for row in range(0, len(out), rows):
        block = slice(row, row + rows)
        product = _linear()(x[block], w.t(), None, "none", [], "")
        if beta:
            own = start[block] if start.dim() == 2 else start
            torch.add(product.mul_(alpha), own, alpha=beta, out=out[block])
        elif mask is not None:
            product = product if alpha == 1 else product.mul_(alpha)
            threshold(product, mask[block], 0, grad_input=out[block])
        else:
            torch.mul(product, alpha, out=out[block])
    return out


@cache
def _linear() -> Any:
    """The kernel of oneDNN, ``None`` where it is missing or not known to be faster.

    It has no public name; PyTorch's compiler calls it by this one.
    """
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not _is_amd():
        return None
    one = torch.ones(1, 1)
    try:
        kernel = torch.ops.mkldnn._linear_pointwise.default
        return kernel if kernel(one, one, None, "none", [], "").equal(one) else None
    except (AttributeError, RuntimeError):
        return None


def _is_amd() -> bool:
    try:
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
