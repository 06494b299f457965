"""Jumping connections: the features of all layers before the output layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from graphsct.names import pick

__all__ = ["JUMPS", "Jumping"]


def _concatenate(layers: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(layers), dim=-1)


def _largest(layers: Sequence[Tensor]) -> Tensor:
    largest = layers[0]
    for x in layers[1:]:
        largest = torch.where(x > largest, x, largest)
    return largest


#: From a name to how the features of all layers become those of one.
JUMPS: dict[str, Callable[[Sequence[Tensor]], Tensor]] = {"cat": _concatenate, "max": _largest}


class Jumping(torch.nn.Module):
    r"""Jumping knowledge (`Xu et al., 2018 <https://arxiv.org/abs/1806.03536>`_): the output layer
    sees :math:`\mathbf H^0, \ldots, \mathbf H^L`, side by side or the largest of each entry.

    Args:
        mode: ``cat`` or ``max``

    Shapes: ``(n, d), ..., (n, d) -> (n, (L + 1) d)`` for ``cat``, ``(n, d)`` for ``max``.
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        pick(JUMPS, mode, "jumping connection")
        self.mode = mode

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """The features before the output layer."""
        return JUMPS[self.mode](layers)

    def channels(self, hidden_channels: int, num_layers: int) -> int:
        """How many channels the output has."""
        return hidden_channels * (num_layers + 1) if self.mode == "cat" else hidden_channels

    def extra_repr(self) -> str:
        """The mode."""
        return repr(self.mode)
