"""The convolution of the energetic network, EGNN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.nn.checks import check_positive, check_share, check_size
from graphsct.nn.convolution import Convolution, LinearForm, make_control

__all__ = ["EnergeticConv"]


class EnergeticConv(Convolution):
    r"""The convolution of the energetic network, EGNN (`Zhou et al., 2021
    <https://arxiv.org/abs/2107.02392>`_), with control:

    .. math::
        \big((1 - c_{\min}) \mathbf G \mathbf X + c_1 \mathbf X^0 + c_2 \mathbf X\big) \mathbf W
        + \mathbf B, \qquad c_1 = \beta, \quad c_2 = c_{\min} - \beta

    The weight starts at :math:`\sqrt{c_{\max}} \mathbf I`, and :meth:`penalty` pulls it back there.

    Args:
        channels: number of channels :math:`d`
        c_min: share of the features that is not propagated, in [0, 1]
        beta: the part of it that goes to the initial features, in [0, c_min]
        c_max: square of the scale of the first weight
        theta: the gated controls' :math:`\theta`
        layer: number of the layer, from 1, for the gated controls
        control: a kind of :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: number of components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
    """

    def __init__(
        self,
        channels: int,
        c_min: float = 0.2,
        beta: float = 0.1,
        c_max: float = 1.0,
        *,
        theta: float = 0.5,
        layer: int = 1,
        control: str | None = None,
        num_components: int | None = None,
        control_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.channels = check_size(channels, "channels")
        self.c_min = check_share(c_min, "c_min")
        self.beta = check_share(beta, "beta")
        if self.beta > self.c_min:
            raise ModelError(f"beta is {beta}, expected at most c_min, which is {c_min}")
        self.c_max = check_positive(c_max, "c_max")
        self.weight = torch.nn.Parameter(torch.empty(channels, channels))
        self.control = make_control(
            control, channels, num_components, theta, layer, control_options
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values."""
        super().reset_parameters()
        with torch.no_grad():
            self.weight.copy_(self.start())

    def penalty(self) -> Tensor:
        r"""Distance of the weight from its start, :math:`\|\mathbf W - \sqrt{c_{\max}} \mathbf
        I\|_F`.
        """
        distance: Tensor = torch.linalg.vector_norm(self.weight - self.start())
        return distance

    def start(self) -> Tensor:
        r"""The first weight, :math:`\sqrt{c_{\max}} \mathbf I`; shape: ``(d, d)``."""
        eye = torch.eye(self.channels, dtype=self.weight.dtype, device=self.weight.device)
        return math.sqrt(self.c_max) * eye

    def linear_form(self) -> LinearForm:
        """The numbers and weights of the equation above."""
        return LinearForm(
            self.weight,
            propagated=1 - self.c_min,
            kept=self.c_min - self.beta,
            initial=self.beta,
        )

    def extra_repr(self) -> str:
        """Channels and the three scalars."""
        return f"{self.channels}, c_min={self.c_min}, beta={self.beta}, c_max={self.c_max}"
