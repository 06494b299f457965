"""GCNII."""

from __future__ import annotations

import torch

from graphsct.nn.gcn2_conv import GCN2Conv
from graphsct.nn.model import Model, layer_numbers

__all__ = ["GCNII"]


class GCNII(Model):
    r"""GCNII (Chen et al., 2020), with control.

    .. math::
        \mathbf H^l = \sigma\big(((1 - \alpha) \mathbf G \mathbf H^{l-1} + \alpha \mathbf H^0)
        ((1 - \beta_l) \mathbf I + \beta_l \mathbf W^l) + \mathbf B^l\big)

    between two linear layers with bias, with :math:`\beta_l = \log(\theta / l + 1)`.

    Args:
        in_channels: number of features
        hidden_channels: number of channels :math:`d`
        out_channels: number of classes
        num_layers: number of convolutions :math:`L`
        alpha: share of the initial features
        theta: of :math:`\beta_l`
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
        init: how the convolutions start: ``glorot``, ``uniform``, ``identity`` or ``orthogonal``
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        alpha: float = 0.1,
        theta: float = 0.5,
        control: str | None = None,
        num_components: int | None = None,
        activation: str | torch.nn.Module = "relu",
        dropout: float = 0.0,
        conv_dropout: float | None = None,
        norm: str | torch.nn.Module | None = None,
        residual: bool = False,
        jumping: str | None = None,
        edge_dropout: float = 0.0,
        init: str = "uniform",
    ) -> None:
        convs = [
            GCN2Conv(
                hidden_channels,
                alpha,
                theta,
                layer,
                control=control,
                num_components=num_components,
                init=init,
            )
            for layer in layer_numbers(num_layers, hidden_channels)
        ]
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
