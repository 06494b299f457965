"""GCN."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.gcn_conv import GCNConv
from graphsct.nn.model import Model, layer_numbers

__all__ = ["GCN"]


class GCN(Model):
    r"""A graph convolutional network of any depth (Kipf and Welling, 2017), with control.

    .. math::
        \mathbf H^l = \sigma(\mathbf G \mathbf H^{l-1} \mathbf W^l + \mathbf B^l)

    between two linear layers with bias.

    Args:
        in_channels: number of features
        hidden_channels: number of channels :math:`d`
        out_channels: number of classes
        num_layers: number of convolutions :math:`L`
        control: ``pooled``, ``gated`` or ``gated_full`` of
            :class:`~graphsct.nn.SmoothnessControl` in every layer, or none
        num_components: of the graph, needed by ``pooled``
        theta: of the gated controls
        activation: ``relu``, ``leaky_relu`` (slope 0.01), ``srelu``, ``elu``, ``selu``, ``silu``
            or ``tanh``, or a module such as ``torch.nn.LeakyReLU(0.2)``
        dropout: rate, before the two linear layers
        conv_dropout: rate, before every convolution
        norm: such as ``BatchNorm`` of PyTorch Geometric, before every activation, or none
        residual: add the input of each layer to its output
        jumping: ``cat`` or ``max``, to show the features of all layers to the output layer
        edge_dropout: rate at which edges are left out in training (DropEdge)
        init: how the convolutions start: ``glorot``, ``uniform``, ``identity`` or ``orthogonal``

    Example:
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> model = GCN(5, 8, 3, num_layers=4, control="pooled", num_components=1)
        >>> model(torch.randn(3, 5), graph).shape
        torch.Size([3, 3])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        control: str | None = None,
        num_components: int | None = None,
        theta: float = 0.5,
        activation: str | torch.nn.Module = "relu",
        dropout: float = 0.0,
        conv_dropout: float = 0.0,
        norm: str | torch.nn.Module | None = None,
        residual: bool = False,
        jumping: str | None = None,
        edge_dropout: float = 0.0,
        init: str = "identity",
    ) -> None:
        convs = [
            GCNConv(
                hidden_channels,
                hidden_channels,
                bias=False,
                control=control,
                num_components=num_components,
                theta=theta,
                layer=layer,
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
            conv_dropout=conv_dropout,
            norm=norm,
            residual=residual,
            jumping=jumping,
            edge_dropout=edge_dropout,
        )

    def _convolve(
        self, conv: Any, x: Tensor, x_0: Tensor, graph: Graph, pooled_0: Tensor | None
    ) -> Any:
        return conv(x, graph, x_0=x_0, pooled_0=pooled_0)
