r"""Graph convolutions that can control their smoothness.

They take a :class:`~graphsct.Graph` or a plain ``edge_index`` with ``edge_weight``. Unlike those of
PyTorch Geometric they need no ``cached=True``: the graph is the cache.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.nn.checks import check_positive, check_share, check_size
from graphsct.nn.control import SmoothnessControl, layer_beta
from graphsct.nn.init import initialize
from graphsct.nn.linear import Linear
from graphsct.nn.memory import as_graph

__all__ = ["EnergeticConv", "GCN2Conv", "GCNConv"]


class _Conv(torch.nn.Module):
    """What the convolutions share: the control that is added to their output."""

    control: SmoothnessControl | None

    def _add_control(
        self, out: Tensor, graph: Graph, x_0: Tensor | None, pooled_0: Tensor | None
    ) -> Tensor:
        if self.control is None:
            return out
        term: Tensor = self.control(out, graph, x_0, pooled_0=pooled_0)
        return out + term

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        if self.control is not None:
            self.control.reset_parameters()


class GCNConv(_Conv):
    r"""The graph convolution of Kipf and Welling (2017), with control:

    .. math::
        \mathbf G \mathbf X \mathbf W + \mathbf b + \mathbf B

    Parameters have the names and shapes of :class:`torch_geometric.nn.GCNConv`, so its
    checkpoints load. The bias is not in the eigenspace; the paper's models have none.

    Args:
        in_channels: number of channels :math:`d` of the input
        out_channels: number of channels :math:`d'` of the output
        bias: add :math:`\mathbf b \in \mathbb R^{d'}`
        control: ``pooled``, ``gated`` or ``gated_full`` of
            :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: of the graph, needed by ``pooled``
        theta: of the gated controls
        layer: which layer this is, from 1, for the gated controls
        init: how the weight starts: ``glorot``, ``uniform``, ``identity`` or ``orthogonal``
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        bias: bool = True,
        control: str | None = None,
        num_components: int | None = None,
        theta: float = 0.5,
        layer: int = 1,
        init: str = "glorot",
    ) -> None:
        super().__init__()
        self.in_channels = check_size(in_channels, "in_channels")
        self.out_channels = check_size(out_channels, "out_channels")
        self.init = init
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.bias = torch.nn.Parameter(torch.empty(out_channels)) if bias else None
        self.control = _control(control, out_channels, num_components, theta, layer)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        super().reset_parameters()
        initialize(self.lin.weight, self.init)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        x_0: Tensor | None = None,
        pooled_0: Tensor | None = None,
    ) -> Tensor:
        """Convolve.

        Args:
            x: features, dense or sparse CSR; shape: ``(n, in_channels)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            x_0: initial features for the gated controls; shape: ``(n, out_channels)``
            pooled_0: ``graph.pool(x_0)`` if it is there already; shape: ``(m, out_channels)``

        Returns:
            The new features, before any activation; shape: ``(n, out_channels)``
        """
        graph = as_graph(edge_index, edge_weight, x)
        out = graph.propagate(self.lin(x))
        if self.bias is not None:
            out = out + self.bias
        return self._add_control(out, graph, x_0, pooled_0)

    def extra_repr(self) -> str:
        """Channels."""
        return f"{self.in_channels}, {self.out_channels}"


class GCN2Conv(_Conv):
    r"""The convolution of GCNII (Chen et al., 2020), with control:

    .. math::
        \big((1 - \alpha) \mathbf G \mathbf X + \alpha \mathbf X^0\big)
        \big((1 - \beta_l) \mathbf I + \beta_l \mathbf W\big) + \mathbf B,
        \qquad \beta_l = \log(\theta / l + 1)

    Parameters have the names and shapes of :class:`torch_geometric.nn.GCN2Conv`, so its
    checkpoints load.

    Args:
        channels: number of channels :math:`d`
        alpha: share of the initial features, in [0, 1]
        theta: of :math:`\beta_l`, here and in the gated controls
        layer: which layer :math:`l` this is, from 1
        control: ``pooled``, ``gated`` or ``gated_full`` of
            :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: of the graph, needed by ``pooled``
        init: how the weight starts: ``glorot``, ``uniform``, ``identity`` or ``orthogonal``
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
        init: str = "glorot",
    ) -> None:
        super().__init__()
        self.channels = check_size(channels, "channels")
        self.alpha = check_share(alpha, "alpha")
        self.beta = layer_beta(theta, layer)
        self.init = init
        self.weight1 = torch.nn.Parameter(torch.empty(channels, channels))
        self.control = _control(control, channels, num_components, theta, layer)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        super().reset_parameters()
        initialize(self.weight1, self.init)

    def forward(
        self,
        x: Tensor,
        x_0: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        pooled_0: Tensor | None = None,
    ) -> Tensor:
        """Convolve.

        Args:
            x: features; shape: ``(n, d)``
            x_0: initial features; shape: ``(n, d)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            pooled_0: ``graph.pool(x_0)`` if it is there already; shape: ``(m, d)``

        Returns:
            The new features, before any activation; shape: ``(n, d)``
        """
        x, x_0 = _pair(x, x_0, self.channels)
        graph = as_graph(edge_index, edge_weight, x)
        mixed = torch.lerp(graph.propagate(x), x_0, self.alpha)
        out = torch.addmm(mixed, mixed, self.weight1, beta=1 - self.beta, alpha=self.beta)
        return self._add_control(out, graph, x_0, pooled_0)

    def extra_repr(self) -> str:
        """Channels and the two scalars."""
        return f"{self.channels}, alpha={self.alpha}, beta={self.beta:.3g}"


class EnergeticConv(_Conv):
    r"""The convolution of the energetic network, EGNN (Zhou et al., 2021), with control:

    .. math::
        \big((1 - c_{\min}) \mathbf G \mathbf X + c_1 \mathbf X^0 + c_2 \mathbf X\big) \mathbf W
        + \mathbf B, \qquad c_1 = \beta, \quad c_2 = c_{\min} - \beta

    The weight starts at :math:`\sqrt{c_{\max}} \mathbf I`, and :meth:`penalty` pulls it back there.

    Args:
        channels: number of channels :math:`d`
        c_min: share of the features that is not propagated, in [0, 1]
        beta: the part of it that goes to the initial features, in [0, c_min]
        c_max: square of the scale of the first weight
        theta: of the gated controls
        layer: which layer this is, from 1, for the gated controls
        control: ``pooled``, ``gated`` or ``gated_full`` of
            :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: of the graph, needed by ``pooled``
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
    ) -> None:
        super().__init__()
        self.channels = check_size(channels, "channels")
        self.c_min = check_share(c_min, "c_min")
        self.beta = check_share(beta, "beta")
        if self.beta > self.c_min:
            raise ModelError(f"beta is {beta}, expected at most c_min, which is {c_min}")
        self.c_max = check_positive(c_max, "c_max")
        self.weight = torch.nn.Parameter(torch.empty(channels, channels))
        self.control = _control(control, channels, num_components, theta, layer)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values."""
        super().reset_parameters()
        with torch.no_grad():
            self.weight.copy_(self._start())

    def penalty(self) -> Tensor:
        r"""Distance of the weight from its start, :math:`\|\mathbf W - \sqrt{c_{\max}} \mathbf
        I\|_F`.
        """
        distance: Tensor = torch.linalg.vector_norm(self.weight - self._start())
        return distance

    def _start(self) -> Tensor:
        eye = torch.eye(self.channels, dtype=self.weight.dtype, device=self.weight.device)
        return math.sqrt(self.c_max) * eye

    def forward(
        self,
        x: Tensor,
        x_0: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        pooled_0: Tensor | None = None,
    ) -> Tensor:
        """Convolve.

        Args:
            x: features; shape: ``(n, d)``
            x_0: initial features; shape: ``(n, d)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            pooled_0: ``graph.pool(x_0)`` if it is there already; shape: ``(m, d)``

        Returns:
            The new features, before any activation; shape: ``(n, d)``
        """
        x, x_0 = _pair(x, x_0, self.channels)
        graph = as_graph(edge_index, edge_weight, x)
        kept = self.beta * x_0 + (self.c_min - self.beta) * x
        mixed = torch.add(kept, graph.propagate(x), alpha=1 - self.c_min)
        return self._add_control(mixed @ self.weight, graph, x_0, pooled_0)

    def extra_repr(self) -> str:
        """Channels and the three scalars."""
        return f"{self.channels}, c_min={self.c_min}, beta={self.beta}, c_max={self.c_max}"


def _control(
    kind: str | None, channels: int, num_components: int | None, theta: float, layer: int
) -> SmoothnessControl | None:
    if kind is None:
        return None
    return SmoothnessControl(
        channels, kind, num_components=num_components, theta=theta, layer=layer
    )


def _pair(x: Tensor, x_0: Any, channels: int) -> tuple[Tensor, Tensor]:
    """Features and initial features of the same shape."""
    if not isinstance(x_0, Tensor):
        raise ModelError(
            f"the initial features x_0 are {type(x_0).__name__}: call conv(x, x_0, edge_index) "
            f"with the (n, {channels}) output of the first layer as x_0"
        )
    for features, name in ((x, "x"), (x_0, "x_0")):
        if features.dim() != 2 or features.shape[1] != channels:
            raise ModelError(
                f"{name} has shape {tuple(features.shape)}, expected (n, {channels}): this "
                f"convolution has channels={channels}"
            )
    if x.shape != x_0.shape:
        raise ModelError(f"x has {len(x)} rows and x_0 has {len(x_0)}: both are one row a node")
    return x, x_0
