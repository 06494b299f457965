"""Normalisation layers by their names in PyTorch Geometric."""

from __future__ import annotations

import copy

import torch

from graphsct.names import pick

__all__ = ["NORMS", "make_norm"]

#: Those that need nothing but the features, and whether they take the number of channels.
NORMS = {
    "BatchNorm": True,
    "InstanceNorm": True,
    "LayerNorm": True,
    "GraphNorm": True,
    "PairNorm": False,
    "MeanSubtractionNorm": False,
}
_SNAKE = {"".join("_" + c.lower() if c.isupper() else c for c in k)[1:]: k for k in NORMS}


def make_norm(norm: str | torch.nn.Module | None, channels: int) -> torch.nn.Module:
    """A fresh normalisation by name (``BatchNorm`` or ``batch_norm``), or a copy of a module."""
    if norm is None:
        return torch.nn.Identity()
    if isinstance(norm, torch.nn.Module):
        return copy.deepcopy(norm)
    from torch_geometric.nn import norm as pyg  # takes a second, and few need it

    name = _SNAKE.get(norm, norm)
    takes_channels = pick(NORMS, name, "norm")
    module: torch.nn.Module = getattr(pyg, name)(*([channels] if takes_channels else []))
    return module
