r"""Smoothness control for any convolution of PyTorch Geometric."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.graph.cache import as_graph
from graphsct.nn.controls import SmoothnessControl

__all__ = ["ControlledConv", "Initial", "add_control", "output_channels"]


class Initial:
    """The initial features that the convolutions of a model share in one forward pass."""

    def __init__(self) -> None:
        self._features: Tensor | None = None

    def take(self, features: Tensor) -> Tensor:
        """The initial features, which are these if there are none yet."""
        if self._features is None:
            self._features = features
        return self._features

    def follow(self, model: torch.nn.Module) -> None:
        """Forget the features before and after each forward pass of a model."""
        model.register_forward_pre_hook(self.forget)
        model.register_forward_hook(self.forget, always_call=True)

    def forget(self, *of_hook: Any) -> None:
        """Forget the features; a hook of the model."""
        self._features = None


class ControlledConv(torch.nn.Module):
    r"""A convolution and the control that is added to its output, :math:`\operatorname{conv}(
    \ldots) + \mathbf B`. Made by :func:`add_control`.
    """

    def __init__(
        self, conv: torch.nn.Module, control: SmoothnessControl, initial: Initial | None = None
    ) -> None:
        super().__init__()
        self.conv = conv
        self.control = control
        self._initial = initial
        self._signature = inspect.signature(conv.forward)
        if "edge_index" not in self._signature.parameters:
            raise ModelError(
                f"{type(conv).__name__}.forward takes no edge_index, so it is not a convolution on "
                f"one graph; it takes {', '.join(self._signature.parameters)}"
            )

    def reset_parameters(self) -> None:
        """Bring convolution and control back to their first values."""
        conv: Any = self.conv
        conv.reset_parameters()
        self.control.reset_parameters()

    def forward(self, *args: Any, x_0: Tensor | None = None, **kwargs: Any) -> Any:
        """Call the convolution and add the control.

        Args:
            *args: those of the convolution; its ``edge_index`` may be a :class:`~graphsct.Graph`,
                whose edges without self-loops it then gets, with the weights if it takes any
            x_0: initial features for the gated controls; shape: ``(n, channels)``
            **kwargs: those of the convolution

        Returns:
            What the convolution returns, with its features controlled; shape: ``(n, channels)``
        """
        if x_0 is not None and "x_0" in self._signature.parameters:
            kwargs["x_0"] = x_0
        call = self._signature.bind(*args, **kwargs)
        given = call.arguments
        edges, weight = given["edge_index"], given.get("edge_weight")
        if isinstance(edges, Graph):
            given["edge_index"] = edges.edge_index
            if "edge_weight" in self._signature.parameters and weight is None:
                given["edge_weight"] = edges.edge_weight
        result = self.conv(*call.args, **call.kwargs)
        out, *others = result if isinstance(result, tuple) else (result,)
        x_0 = given.get("x_0", x_0)
        if x_0 is None and self._initial is not None:
            x_0 = self._initial.take(out)
        out = out + self.control(out, as_graph(edges, weight, out), x_0)
        return (out, *others) if others else out


def add_control(
    conv: torch.nn.Module,
    control: str = "pooled",
    *,
    channels: int | None = None,
    num_components: int | None = None,
    theta: float = 0.5,
    layer: int = 1,
    initial: Initial | None = None,
    **options: Any,
) -> ControlledConv:
    r"""Give smoothness control to a convolution of PyTorch Geometric.

    The eigenspace is that of the graph given, whatever operator the convolution uses on it.

    Args:
        conv: such as ``GATConv``, ``SAGEConv``, ``GINConv``, ``APPNP`` or ``ChebConv``
        control: a kind of :class:`~graphsct.nn.SmoothnessControl`
        channels: width of the convolution's output, if the convolution has no ``out_channels``
        num_components: number of components of the graph, needed by ``pooled``
        theta: the gated controls' :math:`\theta`
        layer: number of the layer, from 1, for the gated controls
        initial: gives the initial features when a call does not
        options: those of the control, such as ``mix`` of ``normalized``

    Example:
        >>> from torch_geometric.nn import GATConv
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> conv = add_control(GATConv(5, 4, heads=2), num_components=1)
        >>> conv(torch.randn(3, 5), graph).shape
        torch.Size([3, 8])
    """
    width = output_channels(conv) if channels is None else channels
    if width is None:
        raise ModelError(
            f"the width of the output of {type(conv).__name__} is not known: pass channels=..."
        )
    made = SmoothnessControl(
        width, control, num_components=num_components, theta=theta, layer=layer, **options
    )
    return ControlledConv(conv, made, initial)


def output_channels(conv: torch.nn.Module) -> int | None:
    """Number of columns of the output, heads counted, or ``None`` if nothing tells."""
    for name in ("out_channels", "channels"):
        width = getattr(conv, name, None)
        if isinstance(width, int):
            heads = getattr(conv, "heads", 1) if getattr(conv, "concat", True) else 1
            return width * heads
    inner = getattr(conv, "nn", None)  # GINConv and its kin end in a network of their own
    widths = [
        getattr(module, name)
        for module in (inner.modules() if isinstance(inner, torch.nn.Module) else ())
        for name in ("out_channels", "out_features")
        if isinstance(getattr(module, name, None), int)
    ]
    return widths[-1] if widths else None
