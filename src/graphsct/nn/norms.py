"""Normalisation layers by name: those of PyTorch Geometric, and a few that it does not have."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch

from graphsct.names import pick
from graphsct.nn.blueprint import call_constructor
from graphsct.nn.checks import check_options
from graphsct.nn.row_norms import ContraNorm, NodeNorm, PairNormSCS

__all__ = ["NORMS", "OWN_NORMS", "make_norm"]

#: Norms of PyTorch Geometric that need nothing but the features, and whether they take the number
#: of channels.
NORMS = {
    "BatchNorm": True,
    "InstanceNorm": True,
    "LayerNorm": True,
    "GraphNorm": True,
    "DiffGroupNorm": True,
    "PairNorm": False,
    "MeanSubtractionNorm": False,
}
#: Norms that PyTorch Geometric does not have; none takes the number of channels.
OWN_NORMS: dict[str, type[torch.nn.Module]] = {
    "PairNormSCS": PairNormSCS,
    "NodeNorm": NodeNorm,
    "ContraNorm": ContraNorm,
}
_REQUIRED: Mapping[str, Mapping[str, Any]] = {"DiffGroupNorm": {"groups": 10}}
_SNAKE = {"".join("_" + c.lower() if c.isupper() else c for c in k)[1:]: k for k in NORMS}


def make_norm(
    norm: str | torch.nn.Module | None, channels: int, options: Mapping[str, Any] | None = None
) -> torch.nn.Module:
    """A fresh normalisation by name (``BatchNorm`` or ``batch_norm``), or a copy of a module.

    Args:
        norm: a name in :data:`NORMS` or :data:`OWN_NORMS`, a module, or none
        channels: number of channels
        options: options of its constructor, such as ``{"scale": 10.0}`` for ``PairNorm``

    Example:
        >>> make_norm("PairNorm", 64, {"scale": 10.0}).scale
        10.0
    """
    if norm is None:
        return torch.nn.Identity()
    if isinstance(norm, torch.nn.Module):
        return copy.deepcopy(norm)
    name = _SNAKE.get(norm, norm)
    given = {**_REQUIRED.get(name, {}), **check_options(options, "norm_options")}
    if name in OWN_NORMS:
        return call_constructor(OWN_NORMS[name], name, **given)
    takes_channels = pick(NORMS | dict.fromkeys(OWN_NORMS, False), name, "norm")
    from torch_geometric.nn import norm as pyg  # takes a second, and few need it

    sizes = [channels] if takes_channels else []
    module: torch.nn.Module = call_constructor(getattr(pyg, name), name, *sizes, **given)
    return module
