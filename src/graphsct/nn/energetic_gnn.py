"""The energetic network, EGNN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from graphsct.nn.activations import SReLU
from graphsct.nn.blueprint import Space
from graphsct.nn.controls import TENTHS
from graphsct.nn.energetic_conv import EnergeticConv
from graphsct.nn.model import Model, layer_numbers, register

__all__ = ["EnergeticGNN"]

#: As published for all data sets.
_DECAYS = dict(conv_weight_decay=0.0, offset_weight_decay=1e-4)


@register
class EnergeticGNN(Model):
    r"""The energetic network, EGNN, of `"Dirichlet Energy Constrained Learning for Deep Graph
    Neural Networks" <https://arxiv.org/abs/2107.02392>`_ (Zhou et al., 2021), with control.

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
        theta: the gated controls' :math:`\theta`
        offset: where the offsets of ``srelu`` start
        penalty_weight: weight of :meth:`penalty`
        control: a name in :data:`graphsct.nn.CONTROLS`, for a
            :class:`~graphsct.nn.SmoothnessControl` in every layer, or none
        num_components: number of connected components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
        activation: as in :class:`~graphsct.nn.Model`
        dropout: rate before the two linear layers
        conv_dropout: rate before every convolution; defaults to ``dropout``
        options: other options of :class:`~graphsct.nn.Model`, such as ``norm``
    """

    name, title = "egnn", "EGNN"
    # The penalty keeps the weights of convolutions small, but not those of a control: a decay of
    # 0.01 holds both back alike.
    known_settings: ClassVar[tuple[Mapping[str, Any], ...]] = tuple(
        dict(learning_rate=0.01, conv_weight_decay=0.01, dense_weight_decay=5e-4, dropout=0.6)
        | dict(hidden=64, c_max=1.0, c_min=0.2, share=0.5, offset=-10.0, theta=0.5, normalize=True)
        | change
        for change in (
            # As published for Cora up to 16 layers and beyond, for PubMed likewise, and Physics.
            _DECAYS | dict(learning_rate=0.005),
            _DECAYS | dict(learning_rate=0.005, c_min=0.15, share=2 / 3),
            _DECAYS | dict(dropout=0.5, c_min=0.12, share=1.0, drop_output=False),
            _DECAYS | dict(dropout=0.5, c_min=0.11, share=1.0, drop_output=False),
            _DECAYS
            | dict(learning_rate=0.005, dense_weight_decay=5e-5)
            | dict(c_min=0.12, share=5 / 6, offset=-5.0),
            # Found by searches.
            {},
            dict(normalize=False),
            dict(offset=-1.0),
            dict(conv_weight_decay=0.0),
            dict(c_min=0.7, share=0.25),
        )
    )

    @classmethod
    def search_space(cls, control: str | None) -> Space:
        """The bounds of the energy, the ``share`` of ``c_min`` that goes to the initial features,
        the first offset of SReLU (the only activation without control, and not for ``target``),
        whether dropout also acts before the output layer, and the decay of the offsets.
        """
        own, others = ("srelu",), ("relu", "leaky_relu")
        activations = {None: own, "target": others}.get(control, own + others)
        return {
            "activation": activations,
            "c_max": (0.5, 1.0, 1.5, 2.0),
            "c_min": tuple(sorted((*TENTHS, 0.11, 0.12, 0.15))),
            "share": (0.25, 0.5, 2 / 3, 0.75, 5 / 6, 1.0),
            "offset": (-10.0, -5.0, -1.0),
            "drop_output": (True, False),
            "offset_weight_decay": (0.0, 1e-4),
        }

    @classmethod
    def from_choices(cls, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """``share`` becomes ``beta``, which is that share of ``c_min``, and ``drop_output``, if it
        is false, an ``output_dropout`` of 0.
        """
        options = dict(chosen)
        if not options.pop("drop_output", True):
            options["output_dropout"] = 0.0
        if "share" in options:
            options["beta"] = options.pop("share") * options["c_min"]
        return options

    @classmethod
    def to_choices(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of :meth:`from_choices`."""
        beta, c_min = options.get("beta"), options.get("c_min")
        share = {} if beta is None or not c_min else {"share": beta / c_min}
        return {**options, **share, "drop_output": options.get("output_dropout") is None}

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
        control_options: Mapping[str, Any] | None = None,
        activation: str | torch.nn.Module = "srelu",
        dropout: float = 0.0,
        conv_dropout: float | None = None,
        **options: Any,
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
                control_options=control_options,
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
            **options,
        )
        self.penalty_weight = float(penalty_weight)

    def penalty(self) -> Tensor:
        r"""The term that training adds to the loss, to keep the weights near their start:
        :math:`\gamma \sum_l \|\mathbf W^l - \mathbf W^l_{start}\|_F`, with :math:`\gamma` the
        ``penalty_weight``.
        """
        convs: Iterable[Any] = self.convs
        return self.penalty_weight * torch.stack([conv.penalty() for conv in convs]).sum()
