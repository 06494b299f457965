"""The registry of activations by name."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor

from graphsct.names import pick
from graphsct.nn.checks import check_size

__all__ = ["ACTIVATIONS", "SReLU", "make_activation"]


class SReLU(torch.nn.Module):
    r"""ReLU with a learnable shift for each channel, :math:`\max(x_{ij}, b_j)` (`Xiang and Li,
    2017 <https://arxiv.org/abs/1704.03971>`_; used by the energetic network of `Zhou et al., 2021
    <https://arxiv.org/abs/2107.02392>`_).

    Args:
        channels: number of channels :math:`d`
        offset: initial value of every :math:`b_j`

    Shapes: ``(n, d) -> (n, d)``.
    """

    def __init__(self, channels: int, offset: float = -1.0) -> None:
        super().__init__()
        self.initial_offset = float(offset)
        self.offset = torch.nn.Parameter(torch.empty(check_size(channels, "channels")))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all offsets to their initial value."""
        torch.nn.init.constant_(self.offset, self.initial_offset)

    def forward(self, x: Tensor) -> Tensor:
        """The larger of each entry and its channel's offset."""
        return torch.maximum(x, self.offset)

    def extra_repr(self) -> str:
        """Channels and initial offset."""
        return f"{len(self.offset)}, offset={self.initial_offset}"


#: The activations by name. Each is a function of the number of channels that makes one.
ACTIVATIONS: dict[str, Callable[[int], torch.nn.Module]] = {
    "relu": lambda channels: torch.nn.ReLU(),
    "leaky_relu": lambda channels: torch.nn.LeakyReLU(0.01),
    "srelu": SReLU,
    "elu": lambda channels: torch.nn.ELU(),
    "selu": lambda channels: torch.nn.SELU(),
    "silu": lambda channels: torch.nn.SiLU(),
    "tanh": lambda channels: torch.nn.Tanh(),
}


def make_activation(activation: str | torch.nn.Module, channels: int) -> torch.nn.Module:
    """A fresh activation by name, or a copy of a module such as ``torch.nn.LeakyReLU(0.2)``."""
    if isinstance(activation, torch.nn.Module):
        return copy.deepcopy(activation)
    return pick(ACTIVATIONS, activation, "activation")(channels)
