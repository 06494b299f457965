"""Connections between the layers of a model, other than the sum of the last two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.names import nearest
from graphsct.nn.blueprint import call_constructor
from graphsct.nn.checks import check_options, check_positive, check_share

__all__ = [
    "CONNECTIONS",
    "DenseConnection",
    "GradientGating",
    "InitialConnection",
    "make_connections",
]


class InitialConnection(torch.nn.Module):
    r"""The initial connection of `"Bag of Tricks for Training Deeper Graph Neural Networks"
    <https://arxiv.org/abs/2108.10521>`_ (Chen et al., 2021): :math:`(1 - \alpha) \mathbf H +
    \alpha \mathbf H^0` for the new features :math:`\mathbf H` of a layer.

    Args:
        channels: number of channels :math:`d`
        layer: which layer this is, from 1
        share: the share :math:`\alpha` of the initial features
    """

    def __init__(self, channels: int, layer: int, share: float = 0.1) -> None:
        super().__init__()
        self.share = check_share(share, "share")

    def forward(self, x: Tensor, layers: Sequence[Tensor], graph: Graph) -> Tensor:
        """The features with their share of the initial ones; shape: ``(n, d)``."""
        return torch.lerp(x, layers[0], self.share)


class DenseConnection(torch.nn.Module):
    r"""The dense connection of `"DeepGCNs" <https://arxiv.org/abs/1904.03751>`_ (Li et al., 2019):
    every layer sees the features of all layers before it. As in the `"Bag of Tricks"
    <https://arxiv.org/abs/2108.10521>`_ (Chen et al., 2021) a linear map keeps the width:
    :math:`[\mathbf H^0, \ldots, \mathbf H^{l-1}, \mathbf H] \mathbf W + \mathbf b` for the new
    features :math:`\mathbf H` of layer :math:`l`.

    Args:
        channels: number of channels :math:`d`
        layer: which layer :math:`l` this is, from 1
    """

    def __init__(self, channels: int, layer: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear((layer + 1) * channels, channels)

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        self.linear.reset_parameters()

    def forward(self, x: Tensor, layers: Sequence[Tensor], graph: Graph) -> Tensor:
        """A linear map of the features of all layers; shape: ``(n, d)``."""
        mapped: Tensor = self.linear(torch.cat([*layers, x], dim=-1))
        return mapped


class GradientGating(torch.nn.Module):
    r"""The gate of `"Gradient Gating for Deep Multi-Rate Learning on Graphs"
    <https://arxiv.org/abs/2210.00513>`_ (Rusch et al., 2023), which stops a channel of a node
    whose neighbours agree with it:

    .. math::
        \tau_{ik} = \tanh \sum_{j \in \mathcal N_i} |h_{jk} - h_{ik}|^p, \qquad
        (1 - \boldsymbol\tau) \odot \mathbf H^{l-1} + \boldsymbol\tau \odot \mathbf H

    for the new features :math:`\mathbf H` of a layer. The gate is computed from :math:`\mathbf H`
    itself, without weights of its own.

    Args:
        channels: number of channels :math:`d`
        layer: which layer this is, from 1
        power: the number :math:`p`
    """

    def __init__(self, channels: int, layer: int, power: float = 2.0) -> None:
        super().__init__()
        self.power = check_positive(power, "power")

    def forward(self, x: Tensor, layers: Sequence[Tensor], graph: Graph) -> Tensor:
        """Each entry between its old and its new value; shape: ``(n, d)``."""
        here, there = graph.edge_index
        change = (x[there] - x[here]).abs().pow(self.power)
        gate = torch.zeros_like(x).index_add(0, here, change).tanh()
        return torch.lerp(layers[-1], x, gate)


#: The connections by name: ``make(channels, layer, **options)``. Each gives the features of a layer
#: from the new ones, those of all layers before, and the graph.
CONNECTIONS: dict[str, Callable[..., torch.nn.Module]] = {
    "initial": InitialConnection,
    "dense": DenseConnection,
    "gradient_gating": GradientGating,
}


def make_connections(
    residual: Any, channels: int, num_layers: int, options: Mapping[str, Any] | None
) -> list[torch.nn.Module]:
    """One connection for each layer, none for those that a model adds itself.

    Args:
        residual: a name in :data:`CONNECTIONS`, or ``True``, ``False`` or ``linear``
        channels: number of channels
        num_layers: number of layers
        options: options of the connection, such as ``{"share": 0.2}``
    """
    given = check_options(options, "residual_options")
    if isinstance(residual, str) and residual in CONNECTIONS:
        return [
            call_constructor(CONNECTIONS[residual], residual, channels, layer, **given)
            for layer in range(1, num_layers + 1)
        ]
    if not (isinstance(residual, bool) or residual == "linear"):
        known = nearest(residual, ["linear", *CONNECTIONS])
        raise ModelError(f"residual is {residual!r}, expected true, false or a name{known}")
    if given:
        raise ModelError(f"residual_options are {given}, but residual={residual!r} has none")
    return []
