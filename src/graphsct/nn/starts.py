"""How the square weights of convolutions start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphsct.names import pick

__all__ = ["INITS", "initialize"]


def _gcnii_uniform(weight: Tensor) -> Tensor:
    bound = weight.shape[1] ** -0.5
    return torch.nn.init.uniform_(weight, -bound, bound)


#: ``glorot`` as in PyTorch Geometric; ``uniform`` as in GCNII, bounded by :math:`1 / \sqrt d`;
#: ``identity``, on which ReLU and the operator act alone; ``orthogonal``, a random rotation.
INITS: dict[str, Callable[[Tensor], Any]] = {
    "glorot": torch.nn.init.xavier_uniform_,
    "uniform": _gcnii_uniform,
    "identity": torch.nn.init.eye_,
    "orthogonal": torch.nn.init.orthogonal_,
}


def initialize(weight: Tensor, name: str) -> None:
    """Fill a weight ``(d, d')`` in place by the name of its initialisation."""
    pick(INITS, name, "initialisation")(weight)
