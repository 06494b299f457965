"""Graphs under :class:`torch.autocast`.

PyTorch has no sparse products of lower precision than float32 on every device, so those of a graph
stay in float32.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

__all__ = ["full_dtype", "is_active", "suspended", "widened"]

_LOWER = (torch.bfloat16, torch.float16)


def is_active(device: torch.device) -> bool:
    """Whether autocast is enabled for a device."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def full_dtype(x: Tensor) -> torch.dtype:
    """The precision of features without autocast, which lowers only float32."""
    return torch.float32 if x.dtype in _LOWER and is_active(x.device) else x.dtype


def widened(x: Tensor) -> Tensor:
    """Features that autocast has lowered in float32, any others as they are."""
    return x.to(full_dtype(x))


def suspended(device: torch.device) -> AbstractContextManager[object]:
    """A context without autocast."""
    return torch.autocast(device.type, enabled=False) if is_active(device) else nullcontext()
