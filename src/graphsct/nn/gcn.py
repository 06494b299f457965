"""The graph convolutional network, GCN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.blueprint import Space
from graphsct.nn.gcn_conv import GCNConv
from graphsct.nn.model import Model, layer_numbers, register

__all__ = ["GCN"]


@register
class GCN(Model):
    r"""The graph convolutional network of `"Semi-Supervised Classification with Graph Convolutional
    Networks" <https://arxiv.org/abs/1609.02907>`_ (Kipf and Welling, 2017), with control.

    .. math::
        \mathbf H^l = \sigma(\mathbf G \mathbf H^{l-1} \mathbf W^l + \mathbf B^l)

    between two linear layers with bias.

    Args:
        in_channels: number of features
        hidden_channels: number of channels :math:`d`
        out_channels: number of classes
        num_layers: number of convolutions :math:`L`
        control: a name in :data:`graphsct.nn.CONTROLS`, for a
            :class:`~graphsct.nn.SmoothnessControl` in every layer, or none
        num_components: number of connected components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
        theta: the gated controls' :math:`\theta`
        init: the convolutions' initial weights: ``glorot``, ``uniform``, ``normal``,
            ``identity`` or ``orthogonal``
        gain: factor of these weights
        options: those of :class:`~graphsct.nn.Model`, such as ``dropout``

    Example:
        >>> import torch
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> model = GCN(5, 8, 3, num_layers=4, control="pooled", num_components=1)
        >>> model(torch.randn(3, 5), graph).shape
        torch.Size([3, 3])
    """

    name, title, default_control = "gcn", "GCN", "pooled"
    known_settings: ClassVar[tuple[Mapping[str, Any], ...]] = tuple(
        dict(learning_rate=0.01, conv_weight_decay=0.0, dense_weight_decay=5e-4, dropout=0.5)
        | dict(hidden=64, init="identity", drop_convs=False, theta=0.5)
        | change
        for change in (
            {},
            dict(activation="leaky_relu", negative_slope=0.3),
            # For sets with many labels, such as Squirrel.
            dict(hidden=128, dropout=0.2, conv_weight_decay=0.0, dense_weight_decay=1e-4),
            dict(hidden=16),
            dict(drop_convs=True, dense_weight_decay=5e-3),
            dict(learning_rate=1e-3, dropout=0.8),
        )
    )

    @classmethod
    def search_space(cls, control: str | None) -> Space:
        """The initial weights, and whether dropout also acts before convolutions."""
        return {"init": ("identity", "glorot"), "drop_convs": (False, True)}

    @classmethod
    def from_choices(cls, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """``drop_convs`` becomes a ``conv_dropout`` equal to ``dropout``."""
        options = dict(chosen)
        if options.pop("drop_convs", False):
            options["conv_dropout"] = options["dropout"]
        return options

    @classmethod
    def to_choices(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of :meth:`from_choices`."""
        return {**options, "drop_convs": bool(options.get("conv_dropout"))}

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int,
        *,
        control: str | None = None,
        num_components: int | None = None,
        control_options: Mapping[str, Any] | None = None,
        theta: float = 0.5,
        init: str = "identity",
        gain: float = 1.0,
        **options: Any,
    ) -> None:
        convs = [
            GCNConv(
                hidden_channels,
                hidden_channels,
                bias=False,
                control=control,
                num_components=num_components,
                control_options=control_options,
                theta=theta,
                layer=layer,
                init=init,
                gain=gain,
            )
            for layer in layer_numbers(num_layers, hidden_channels)
        ]
        super().__init__(in_channels, hidden_channels, out_channels, convs, **options)

    def convolve(
        self, conv: Any, x: Tensor, x_0: Tensor, graph: Graph, pooled_0: Tensor | None
    ) -> Any:
        """Apply one convolution, whose initial features are optional."""
        return conv(x, graph, x_0=x_0, pooled_0=pooled_0)
