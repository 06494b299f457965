"""The network with initial residual and identity mapping, GCNII."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from graphsct.nn.blueprint import Space
from graphsct.nn.controls import TENTHS
from graphsct.nn.gcn2_conv import GCN2Conv
from graphsct.nn.model import Model, layer_numbers, register

__all__ = ["GCNII"]


@register
class GCNII(Model):
    r"""The network of `"Simple and Deep Graph Convolutional Networks"
    <https://arxiv.org/abs/2007.02133>`_ (Chen et al., 2020), with control.

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
        theta: the :math:`\theta` of :math:`\beta_l`
        control: a name in :data:`graphsct.nn.CONTROLS`, for a
            :class:`~graphsct.nn.SmoothnessControl` in every layer, or none
        num_components: number of connected components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
        dropout: rate before the two linear layers
        conv_dropout: rate before every convolution; defaults to ``dropout``
        init: the convolutions' initial weights: ``glorot``, ``uniform``, ``identity`` or
            ``orthogonal``
        options: other options of :class:`~graphsct.nn.Model`, such as ``activation``
    """

    name, title = "gcnii", "GCNII"
    known_settings: ClassVar[tuple[Mapping[str, Any], ...]] = tuple(
        dict(learning_rate=0.01, conv_weight_decay=0.01, dense_weight_decay=5e-4, dropout=0.6)
        | dict(hidden=64, init="uniform", alpha=0.1, theta=0.5, normalize=True)
        | change
        for change in (
            # As published for Cora, Citeseer, PubMed, Physics and the heterophilic sets.
            {},
            dict(hidden=256, dropout=0.7, theta=0.6),
            dict(hidden=256, dropout=0.5, theta=0.4, conv_weight_decay=5e-4),
            dict(dropout=0.8, conv_weight_decay=5e-4),
            dict(dropout=0.5, alpha=0.2, theta=1.5, conv_weight_decay=5e-4),
            dict(dropout=0.5, alpha=0.5, theta=1.0)
            | dict(conv_weight_decay=1e-3, dense_weight_decay=1e-3),
            dict(dropout=0.5, alpha=0.5, theta=1.0, conv_weight_decay=5e-4),
            dict(dropout=0.5, alpha=0.5, theta=1.5)
            | dict(conv_weight_decay=1e-4, dense_weight_decay=1e-4),
            # Found by searches.
            dict(normalize=False),
            # For sets with many labels, such as Squirrel.
            dict(hidden=128, dropout=0.2, conv_weight_decay=0.0, dense_weight_decay=1e-4)
            | dict(normalize=False),
            dict(alpha=0.5, dropout=0.5),
            dict(conv_weight_decay=5e-4, activation="leaky_relu"),
            dict(learning_rate=1e-3, dropout=0.8),
        )
    )

    @classmethod
    def search_space(cls, control: str | None) -> Space:
        r"""The initial weights, :math:`\alpha` and :math:`\theta`."""
        return {"init": ("uniform", "identity"), "alpha": TENTHS, "theta": (*TENTHS, 1.0, 1.5)}

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
        control_options: Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        conv_dropout: float | None = None,
        init: str = "uniform",
        **options: Any,
    ) -> None:
        convs = [
            GCN2Conv(
                hidden_channels,
                alpha,
                theta,
                layer,
                control=control,
                num_components=num_components,
                control_options=control_options,
                init=init,
            )
            for layer in layer_numbers(num_layers, hidden_channels)
        ]
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            convs,
            dropout=dropout,
            conv_dropout=dropout if conv_dropout is None else conv_dropout,
            **options,
        )
