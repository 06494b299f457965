r"""Graph convolutions that can control their smoothness.

They take a :class:`~graphsct.Graph` or a plain ``edge_index`` with ``edge_weight``. Unlike those of
PyTorch Geometric they need no ``cached=True``: the graph is the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.graph.cache import as_graph
from graphsct.nn.checks import check_options
from graphsct.nn.controls import SmoothnessControl

__all__ = ["Convolution", "LinearForm", "make_control"]


class LinearForm(NamedTuple):
    r"""The numbers and weights of a convolution that is linear in its features:

    .. math::
        \big((g \mathbf G + u \mathbf I) \mathbf X + v \mathbf X^0\big)
        (s \mathbf I + b \mathbf W) + \mathbf 1 \mathbf b^\top

    Args:
        weight: W, a parameter of the convolution; that of a ``torch.nn.Linear`` is transposed;
            shape: ``(d, d')``
        propagated: the number g
        kept: the number u
        initial: the number v
        identity: the number s
        weight_scale: the number b
        bias: added to each node, or none; shape: ``(d',)``
    """

    weight: Tensor
    propagated: float = 1.0
    kept: float = 0.0
    initial: float = 0.0
    identity: float = 0.0
    weight_scale: float = 1.0
    bias: Tensor | None = None


class Convolution(torch.nn.Module):
    """The base of convolutions, with the control that is added to their output.

    A subclass that is linear in its features needs its weights and a :meth:`linear_form` only, from
    which :meth:`forward` and the engine follow. Any other subclass has a ``forward`` of its own and
    is trained by autograd. The arguments of ``forward`` are called ``x``, ``edge_index`` and,
    where the convolution takes them, ``x_0`` and ``pooled_0``: the engine finds them by name.
    """

    control: SmoothnessControl | None

    def __init__(self) -> None:
        super().__init__()
        self.control = None

    def linear_form(self) -> LinearForm | None:
        """The numbers and weights of the output before the control, or none if not linear."""
        return None

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
        form = self.linear_form()
        if form is None:
            raise ModelError(f"{type(self).__name__} has neither a forward nor a linear_form")
        x, x_0 = _check_pair(x, x_0, len(form.weight))
        graph = as_graph(edge_index, edge_weight, x)
        mixed = form.propagated * graph.propagate(x)
        for share, features in ((form.kept, x), (form.initial, x_0)):
            mixed = torch.add(mixed, features, alpha=share) if share else mixed
        out = form.weight_scale * (mixed @ form.weight)
        out = torch.add(out, mixed, alpha=form.identity) if form.identity else out
        out = out if form.bias is None else out + form.bias
        return self.add_control(out, graph, x_0, pooled_0)

    def add_control(
        self, out: Tensor, graph: Graph, x_0: Tensor | None, pooled_0: Tensor | None
    ) -> Tensor:
        """The output with the control's term, if there is one; shape: ``(n, d)``."""
        if self.control is None:
            return out
        term: Tensor = self.control(out, graph, x_0, pooled_0=pooled_0)
        return out + term

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        if self.control is not None:
            self.control.reset_parameters()


def make_control(
    kind: str | None,
    channels: int,
    num_components: int | None,
    theta: float,
    layer: int,
    options: Mapping[str, Any] | None,
) -> SmoothnessControl | None:
    """The control of a convolution by name, or none."""
    if kind is None:
        return None
    given = check_options(options, "control_options")
    return SmoothnessControl(
        channels, kind, num_components=num_components, theta=theta, layer=layer, **given
    )


def _check_pair(x: Tensor, x_0: Any, channels: int) -> tuple[Tensor, Tensor]:
    """Return features and initial features, or refuse them if their shapes do not fit."""
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
        raise ModelError(f"x has {len(x)} rows and x_0 has {len(x_0)}: both have one row per node")
    return x, x_0
