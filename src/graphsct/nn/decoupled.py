"""Networks that predict first and propagate the predictions afterwards: APPNP and DAGNN."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.graph.cache import as_graph
from graphsct.nn.blueprint import Space
from graphsct.nn.checks import check_depth, check_share, check_size
from graphsct.nn.controls import TENTHS
from graphsct.nn.dropout import drop_edges
from graphsct.nn.linear import dropout
from graphsct.nn.model import Model, register

__all__ = ["APPNP", "DAGNN", "DecoupledModel"]


class DecoupledModel(Model):
    r"""The base of networks whose depth has no weights: two linear layers, then :math:`L` steps.

    .. math::
        \mathbf Z^0 = \sigma(\mathbf X \mathbf W_{in} + \mathbf b_{in}) \mathbf W_{out} + \mathbf
        b_{out}, \qquad \mathbf Z^l = \operatorname{step}(\mathbf Z^{l-1}, \mathbf Z^0)

    with dropout before both linear layers. The scores are those of :meth:`combine`.

    Args:
        in_channels: number of features
        hidden_channels: number of channels between the linear layers
        out_channels: number of classes
        num_layers: number of steps :math:`L`
        activation: a name in :data:`graphsct.nn.ACTIVATIONS`, or a module
        dropout: rate before the two linear layers
        norm: a norm before the activation, or none
        edge_dropout: rate at which edges are left out in training
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        activation: str | torch.nn.Module = "relu",
        dropout: float = 0.0,
        norm: str | torch.nn.Module | None = None,
        edge_dropout: float = 0.0,
    ) -> None:
        check_size(hidden_channels, "hidden_channels")
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            [],
            activation=activation,
            dropout=dropout,
            norm=norm,
            edge_dropout=edge_dropout,
        )
        self.steps = check_depth(num_layers, "num_layers")

    @abstractmethod
    def step(self, z: Tensor, z_0: Tensor, graph: Graph) -> Tensor:
        """One step of the predictions; shape: ``(n, out_channels)``."""

    def combine(self, layers: list[Tensor]) -> Tensor:
        """The scores from the predictions after each step; the last ones."""
        return layers[-1]

    def forward(  # type: ignore[override]  # it is no network for many graphs
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        return_layers: bool = False,
    ) -> Any:
        r"""Scores of all nodes.

        Args:
            x: features, dense or sparse CSR; shape: ``(n, in_channels)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            return_layers: also return :math:`\mathbf Z^0, \ldots, \mathbf Z^L`

        Returns:
            Scores, with ``return_layers`` followed by ``num_layers + 1`` predictions of the same
            shape; shape: ``(n, out_channels)``
        """
        graph = drop_edges(as_graph(edge_index, edge_weight, x), self.edge_dropout, self.training)
        hidden = self.input(dropout(x, self.dropout, self.training))
        hidden = self.activations[0](self.norms[0](hidden))
        layers = [self.output(dropout(hidden, self.dropout, self.training))]
        for _ in range(self.steps):
            layers.append(self.step(layers[-1], layers[0], graph))
        scores = self.combine(layers)
        return (scores, layers) if return_layers else scores


@register
class APPNP(DecoupledModel):
    r"""The network of `"Predict then Propagate" <https://arxiv.org/abs/1810.05997>`_ (Gasteiger et
    al., 2019):

    .. math::
        \mathbf Z^l = (1 - \alpha) \mathbf G \mathbf Z^{l-1} + \alpha \mathbf Z^0

    Args:
        in_channels: number of features
        hidden_channels: number of channels between the linear layers
        out_channels: number of classes
        num_layers: number of steps :math:`L`
        alpha: share :math:`\alpha` of the first predictions
        options: ``activation``, ``dropout``, ``norm`` and ``edge_dropout``, as for :class:`GCN`
    """

    name, title = "appnp", "APPNP"

    @classmethod
    def search_space(cls, control: str | None) -> Space:
        r"""The share :math:`\alpha`."""
        return {"alpha": TENTHS}

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        alpha: float = 0.1,
        **options: Any,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, num_layers, **options)
        self.alpha = check_share(alpha, "alpha")

    def step(self, z: Tensor, z_0: Tensor, graph: Graph) -> Tensor:
        """Propagate, and return to the first predictions with probability alpha."""
        return torch.lerp(graph.propagate(z), z_0, self.alpha)


@register
class DAGNN(DecoupledModel):
    r"""The network of `"Towards Deeper Graph Neural Networks" <https://arxiv.org/abs/2007.09296>`_
    (Liu et al., 2020), in which each node weighs the distances itself:

    .. math::
        \mathbf Z^l = \mathbf G \mathbf Z^{l-1}, \qquad
        \mathbf y_i = \sum_{l=0}^L \sigma(\mathbf z^l_i \cdot \mathbf s + b) \mathbf z^l_i

    with the logistic function :math:`\sigma` and learnable :math:`\mathbf s` and :math:`b`.

    Args:
        in_channels: number of features
        hidden_channels: number of channels between the linear layers
        out_channels: number of classes
        num_layers: number of steps :math:`L`
        options: ``activation``, ``dropout``, ``norm`` and ``edge_dropout``, as for :class:`GCN`
    """

    name, title = "dagnn", "DAGNN"

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        **options: Any,
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, num_layers, **options)
        self.retain = torch.nn.Linear(out_channels, 1)

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        super().reset_parameters()
        self.retain.reset_parameters()

    def param_groups(self, **decay: float) -> list[dict[str, Any]]:
        """The groups of :class:`~graphsct.nn.Model`, with the weights of distances among the dense
        layers.
        """
        groups = super().param_groups(**decay)
        dense = next(group for group in groups if group["name"] == "dense")
        dense["params"] += list(self.retain.parameters())
        return groups

    def step(self, z: Tensor, z_0: Tensor, graph: Graph) -> Tensor:
        """Propagate."""
        return graph.propagate(z)

    def combine(self, layers: list[Tensor]) -> Tensor:
        """The weighted sum of all predictions."""
        stacked = torch.stack(layers, dim=1)  # (n, L + 1, out_channels)
        return (torch.sigmoid(self.retain(stacked)) * stacked).sum(1)
