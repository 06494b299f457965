"""The graph convolution of GCN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.graph.cache import as_graph
from graphsct.nn.checks import check_size
from graphsct.nn.convolution import Convolution, LinearForm, make_control
from graphsct.nn.linear import Linear
from graphsct.nn.starts import initialize

__all__ = ["GCNConv"]


class GCNConv(Convolution):
    r"""The graph convolution of `Kipf and Welling (2017) <https://arxiv.org/abs/1609.02907>`_, with
    control:

    .. math::
        \mathbf G \mathbf X \mathbf W + \mathbf b + \mathbf B

    Parameters have the names and shapes of :class:`torch_geometric.nn.GCNConv`, so its
    checkpoints load. The bias is not in the eigenspace; the paper's models have none.

    Args:
        in_channels: number of channels :math:`d` of the input
        out_channels: number of channels :math:`d'` of the output
        bias: add :math:`\mathbf b \in \mathbb R^{d'}`
        control: a kind of :class:`~graphsct.nn.SmoothnessControl`, or none
        num_components: number of components of the graph, needed by ``pooled``
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``
        theta: the gated controls' :math:`\theta`
        layer: number of the layer, from 1, for the gated controls
        init: initial weight: ``glorot``, ``uniform``, ``normal``, ``identity`` or
            ``orthogonal``
        gain: factor of the initial weight
    """

    # An attribute of a layer only if it is set, so that runs of earlier versions can be resumed.
    gain: float = 1.0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        bias: bool = True,
        control: str | None = None,
        num_components: int | None = None,
        control_options: Mapping[str, Any] | None = None,
        theta: float = 0.5,
        layer: int = 1,
        init: str = "glorot",
        gain: float = 1.0,
    ) -> None:
        super().__init__()
        self.in_channels = check_size(in_channels, "in_channels")
        self.out_channels = check_size(out_channels, "out_channels")
        self.init = init
        if gain != 1:
            self.gain = gain
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.bias = torch.nn.Parameter(torch.empty(out_channels)) if bias else None
        self.control = make_control(
            control, out_channels, num_components, theta, layer, control_options
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        super().reset_parameters()
        initialize(self.lin.weight, self.init, self.gain)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(  # type: ignore[override]  # as that of PyTorch Geometric
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
        return self.add_control(out, graph, x_0, pooled_0)

    def linear_form(self) -> LinearForm:
        """The numbers and weights of the equation above."""
        return LinearForm(self.lin.weight, bias=self.bias)

    def extra_repr(self) -> str:
        """Channels."""
        return f"{self.in_channels}, {self.out_channels}"
