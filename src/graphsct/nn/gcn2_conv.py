"""The convolution of GCNII."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from graphsct.nn.checks import check_share, check_size
from graphsct.nn.controls import layer_beta
from graphsct.nn.convolution import Convolution, LinearForm, make_control
from graphsct.nn.starts import initialize

__all__ = ["GCN2Conv"]


class GCN2Conv(Convolution):
    r"""The convolution of GCNII (`Chen et al., 2020 <https://arxiv.org/abs/2007.02133>`_), with
    control:

    .. math::
        \big((1 - \alpha) \mathbf G \mathbf X + \alpha \mathbf X^0\big)
        \big((1 - \beta_l) \mathbf I + \beta_l \mathbf W\big) + \mathbf B,
        \qquad \beta_l = \log(\theta / l + 1)

    Parameters have the names and shapes of :class:`torch_geometric.nn.GCN2Conv`, so its
    checkpoints load.

    Args:
        channels: number of channels :math:`d`
        alpha: share of the initial features, in [0, 1]
        theta: the :math:`\theta` of :math:`\beta_l`, here and in the gated controls
        layer: which layer :math:`l` this is, from 1
        control: a kind of :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: number of components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
        init: initial weight: ``glorot``, ``uniform``, ``identity`` or ``orthogonal``
    """

    def __init__(
        self,
        channels: int,
        alpha: float,
        theta: float,
        layer: int,
        *,
        control: str | None = None,
        num_components: int | None = None,
        control_options: Mapping[str, Any] | None = None,
        init: str = "glorot",
    ) -> None:
        super().__init__()
        self.channels = check_size(channels, "channels")
        self.alpha = check_share(alpha, "alpha")
        self.beta = layer_beta(theta, layer)
        self.init = init
        self.weight1 = torch.nn.Parameter(torch.empty(channels, channels))
        self.control = make_control(
            control, channels, num_components, theta, layer, control_options
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        super().reset_parameters()
        initialize(self.weight1, self.init)

    def linear_form(self) -> LinearForm:
        """The numbers and weights of the equation above."""
        return LinearForm(
            self.weight1,
            propagated=1 - self.alpha,
            initial=self.alpha,
            identity=1 - self.beta,
            weight_scale=self.beta,
        )

    def extra_repr(self) -> str:
        """Channels and the two scalars."""
        return f"{self.channels}, alpha={self.alpha}, beta={self.beta:.3g}"
