"""The energetic network, EGNN."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from graphsct.nn.activations import SReLU
from graphsct.nn.energetic_conv import EnergeticConv
from graphsct.nn.model import Model, layer_numbers

__all__ = ["EnergeticGNN"]


class EnergeticGNN(Model):
    r"""The energetic network, EGNN (Zhou et al., 2021), with control.

    .. math::
        \mathbf H^l = \sigma\big(((1 - c_{\min}) \mathbf G \mathbf H^{l-1} + \beta \mathbf H^0 +
        (c_{\min} - \beta) \mathbf H^{l-1}) \mathbf W^l + \mathbf B^l\big)

    between two linear layers with bias. :math:`\mathbf W^1` starts at :math:`\sqrt{c_{\max}}
    \mathbf I`, the others at :math:`\mathbf I`; add :meth:`penalty` to the loss to keep them near.

    Args:
        in_channels: number of features
        hidden_channels: number of channels :math:`d`
        out_channels: number of classes
        num_layers: number of convolutions :math:`L`
        c_max: upper bound on the growth of the Dirichlet energy
        c_min: lower bound on it
        beta: share of the initial features, at most ``c_min``
        theta: of the gated controls
        offset: where the offsets of ``srelu`` start
        penalty_weight: of :meth:`penalty`
        control: ``pooled``, ``gated`` or ``gated_full`` of
            :class:`~graphsct.nn.SmoothnessControl` in every layer, or none
        num_components: of the graph, needed by ``pooled``
        activation: ``relu``, ``leaky_relu`` (slope 0.01), ``srelu``, ``elu``, ``selu``, ``silu``
            or ``tanh``, or a module such as ``torch.nn.LeakyReLU(0.2)``
        dropout: rate, before the two linear layers
        conv_dropout: rate, before every convolution, that of ``dropout`` if left out
        norm: such as ``BatchNorm`` of PyTorch Geometric, before every activation, or none
        residual: add the input of each layer to its output
        jumping: ``cat`` or ``max``, to show the features of all layers to the output layer
        edge_dropout: rate at which edges are left out in training (DropEdge)
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        c_max: float = 1.0,
        c_min: float = 0.2,
        beta: float = 0.1,
        theta: float = 0.5,
        offset: float = -10.0,
        penalty_weight: float = 20.0,
        control: str | None = None,
        num_components: int | None = None,
        activation: str | torch.nn.Module = "srelu",
        dropout: float = 0.0,
        conv_dropout: float | None = None,
        norm: str | torch.nn.Module | None = None,
        residual: bool = False,
        jumping: str | None = None,
        edge_dropout: float = 0.0,
    ) -> None:
        convs = [
            EnergeticConv(
                hidden_channels,
                c_min,
                beta,
                c_max if layer == 1 else 1.0,
                theta=theta,
                layer=layer,
                control=control,
                num_components=num_components,
            )
            for layer in layer_numbers(num_layers, hidden_channels)
        ]
        if activation == "srelu":
            activation = SReLU(hidden_channels, offset)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            convs,
            activation=activation,
            dropout=dropout,
            conv_dropout=dropout if conv_dropout is None else conv_dropout,
            norm=norm,
            residual=residual,
            jumping=jumping,
            edge_dropout=edge_dropout,
        )
        self.penalty_weight = float(penalty_weight)

    def penalty(self) -> Tensor:
        r"""What training adds to the loss, to keep the weights near their start:
        :math:`\gamma \sum_l \|\mathbf W^l - \mathbf W^l_{start}\|_F`, with :math:`\gamma` the
        ``penalty_weight``.
        """
        convs: Iterable[Any] = self.convs
        return self.penalty_weight * torch.stack([conv.penalty() for conv in convs]).sum()
