"""How the square weights of convolutions start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphsct.names import pick
from graphsct.nn.checks import check_positive

__all__ = ["INITS", "initialize"]


def _gcnii_uniform(weight: Tensor) -> Tensor:
    bound = weight.shape[1] ** -0.5
    return torch.nn.init.uniform_(weight, -bound, bound)


def _normal(weight: Tensor) -> Tensor:
    return torch.nn.init.normal_(weight, std=weight.shape[1] ** -0.5)


#: ``glorot`` as in PyTorch Geometric; ``uniform`` as in GCNII, bounded by :math:`1 / \sqrt d`;
#: ``normal`` with variance :math:`1 / d`; ``identity``, on which ReLU and the operator act alone;
#: ``orthogonal``, a random rotation.
INITS: dict[str, Callable[[Tensor], Any]] = {
    "glorot": torch.nn.init.xavier_uniform_,
    "uniform": _gcnii_uniform,
    "normal": _normal,
    "identity": torch.nn.init.eye_,
    "orthogonal": torch.nn.init.orthogonal_,
}


def initialize(weight: Tensor, name: str, gain: float = 1.0) -> None:
    """Fill a weight in place.

    Args:
        weight: the weight; shape: ``(d', d)``
        name: name of the initialisation
        gain: factor of all entries
    """
    pick(INITS, name, "initialisation")(weight)
    if check_positive(gain, "gain") != 1:
        with torch.no_grad():
            weight.mul_(gain)
