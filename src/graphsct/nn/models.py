r"""The three models of the paper: a linear layer, convolutions of one width, a linear layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, overload

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.activation import SReLU, make_activation
from graphsct.nn.checks import check_rate, check_size
from graphsct.nn.conv import EnergeticConv, GCN2Conv, GCNConv
from graphsct.nn.linear import Linear, dropout
from graphsct.nn.memory import as_graph
from graphsct.nn.norm import make_norm

__all__ = ["GCN", "GCNII", "EnergeticGNN"]


class _Model(torch.nn.Module):
    r"""What the models share: all but the convolution.

    .. math::
        \mathbf H^0 = \sigma(\mathbf X \mathbf W_{in} + \mathbf b_{in}), \qquad
        \mathbf H^l = \sigma(\operatorname{conv}_l(\mathbf H^{l-1}, \mathbf H^0)), \qquad
        \mathbf Y = \mathbf H^L \mathbf W_{out} + \mathbf b_{out}

    with dropout before every linear layer and convolution, and a norm before every activation.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        convs: Iterable[torch.nn.Module],
        *,
        activation: str | torch.nn.Module,
        dropout: float,
        conv_dropout: float,
        norm: str | torch.nn.Module | None,
    ) -> None:
        super().__init__()
        self.in_channels = check_size(in_channels, "in_channels")
        self.hidden_channels = hidden_channels
        self.out_channels = check_size(out_channels, "out_channels")
        self.dropout = check_rate(dropout, "dropout")
        self.conv_dropout = check_rate(conv_dropout, "conv_dropout")
        self.input = Linear(in_channels, hidden_channels)
        self.convs = torch.nn.ModuleList(convs)
        self.output = torch.nn.Linear(hidden_channels, out_channels)
        self.norms = torch.nn.ModuleList(
            make_norm(norm, hidden_channels) for _ in range(self.num_layers + 1)
        )
        self.activations = torch.nn.ModuleList(
            make_activation(activation, hidden_channels) for _ in range(self.num_layers + 1)
        )
        if isinstance(self.activations[0], SReLU):  # the energetic network shifts after convolving
            self.activations[0] = torch.nn.ReLU()

    @property
    def num_layers(self) -> int:
        """Number of convolutions."""
        return len(self.convs)

    @property
    def _needs_initial(self) -> bool:
        controls = [getattr(conv, "control", None) for conv in self.convs]
        return any(control is not None and control.needs_initial for control in controls)

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        for module in (self.input, self.output, *self.convs, *self.norms, *self.activations):
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()

    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        return_layers: Literal[False] = False,
    ) -> Tensor: ...

    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        return_layers: Literal[True],
    ) -> tuple[Tensor, list[Tensor]]: ...

    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        return_layers: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        r"""Class scores of all nodes.

        Args:
            x: features, dense or sparse CSR; shape: ``(n, in_channels)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            return_layers: also return :math:`\mathbf H^0, \ldots, \mathbf H^L`

        Returns:
            Scores, with ``return_layers`` followed by ``num_layers + 1`` hidden features of
            shape ``(n, hidden_channels)``; shape: ``(n, out_channels)``
        """
        graph = as_graph(edge_index, edge_weight, x)
        x = self.input(dropout(x, self.dropout, self.training, graph.noise))
        x = x_0 = self.activations[0](self.norms[0](x))
        pooled_0 = graph.pool(x_0) if self._needs_initial else None
        layers = [x]
        for conv, norm, activation in zip(
            self.convs, self.norms[1:], self.activations[1:], strict=True
        ):
            dropped = dropout(x, self.conv_dropout, self.training, graph.noise)
            x = activation(norm(self._convolve(conv, dropped, x_0, graph, pooled_0)))
            if return_layers:
                layers.append(x)
        out: Tensor = self.output(dropout(x, self.dropout, self.training, graph.noise))
        return (out, layers) if return_layers else out

    def _convolve(
        self, conv: Any, x: Tensor, x_0: Tensor, graph: Graph, pooled_0: Tensor | None
    ) -> Any:
        return conv(x, x_0, graph, pooled_0=pooled_0)

    def penalty(self) -> Tensor:
        """What training adds to the loss: nothing, for most models."""
        return self.output.weight.new_zeros(())

    def param_groups(
        self, *, conv_weight_decay: float = 0.0, dense_weight_decay: float = 0.0
    ) -> list[dict[str, Any]]:
        """Parameters for an optimizer, with weight decay for convolutions and dense layers apart.

        Controls go with their convolutions, norms with the dense layers, and the offsets of
        activations without decay.

        Example:
            >>> model = GCN(5, 8, 3, num_layers=2)
            >>> groups = model.param_groups(conv_weight_decay=0.01, dense_weight_decay=5e-4)
            >>> optimizer = torch.optim.Adam(groups, lr=0.01)
        """
        dense = [*self.input.parameters(), *self.output.parameters(), *self.norms.parameters()]
        groups = [
            dict(name="conv", params=[*self.convs.parameters()], weight_decay=conv_weight_decay),
            dict(name="dense", params=dense, weight_decay=dense_weight_decay),
            dict(name="activation", params=[*self.activations.parameters()], weight_decay=0.0),
        ]
        return [group for group in groups if group["params"]]


class GCN(_Model):
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
            for layer in _layers(num_layers, hidden_channels)
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
        )

    def _convolve(
        self, conv: Any, x: Tensor, x_0: Tensor, graph: Graph, pooled_0: Tensor | None
    ) -> Any:
        return conv(x, graph, x_0=x_0, pooled_0=pooled_0)


class GCNII(_Model):
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
            for layer in _layers(num_layers, hidden_channels)
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
        )


class EnergeticGNN(_Model):
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
            for layer in _layers(num_layers, hidden_channels)
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
        )
        self.penalty_weight = float(penalty_weight)

    def penalty(self) -> Tensor:
        r"""What training adds to the loss, to keep the weights near their start:
        :math:`\gamma \sum_l \|\mathbf W^l - \mathbf W^l_{start}\|_F`, with :math:`\gamma` the
        ``penalty_weight``.
        """
        convs: Iterable[Any] = self.convs
        return self.penalty_weight * torch.stack([conv.penalty() for conv in convs]).sum()


def _layers(num_layers: Any, hidden_channels: Any) -> range:
    check_size(hidden_channels, "hidden_channels")
    return range(1, check_size(num_layers, "num_layers") + 1)
