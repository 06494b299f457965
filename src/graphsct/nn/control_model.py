r"""Smoothness control for all convolutions of a model that somebody else wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.graph.cache import graph_of
from graphsct.names import pick
from graphsct.nn.blueprint import num_outputs
from graphsct.nn.checks import check_options
from graphsct.nn.controls import CONTROLS
from graphsct.nn.hidden_convolutions import hidden_convolutions, replace_parts
from graphsct.nn.wrap import Initial, add_control

__all__ = ["THETA", "add_control_for", "control_convolutions"]

#: The gated controls' theta, if nobody names another.
THETA = 0.5


def control_convolutions(
    model: torch.nn.Module,
    control: str,
    *,
    num_components: int | None = None,
    theta: float = THETA,
    num_outputs: int | None = None,
    control_options: Mapping[str, Any] | None = None,
) -> torch.nn.Module:
    r"""Give smoothness control to every hidden convolution of a model, in place.

    A convolution is a ``MessagePassing`` of PyTorch Geometric, or one of ours, that takes an
    ``edge_index`` and has ``out_channels``. The gated controls' initial features
    :math:`\mathbf H^0` are the output of the convolution that the model calls first, before its
    control; so they need convolutions of one width.

    Args:
        model: any model with convolutions
        control: a name in :data:`graphsct.nn.CONTROLS`
        num_components: number of connected components of the graph, needed by ``pooled``
        theta: the gated controls' :math:`\theta`
        num_outputs: a last convolution of this width is the output layer, which stays as it is; if
            left out, the last convolution is a hidden one
        control_options: options of the control, such as ``{"mix": 0.0}`` for ``normalized``

    Returns:
        The model itself

    Example:
        >>> from torch_geometric.nn import GAT
        >>> model = GAT(5, 8, num_layers=3, out_channels=2)
        >>> model = control_convolutions(model, "gated", num_outputs=2)
        >>> [type(conv).__name__ for conv in model.convs]
        ['ControlledConv', 'ControlledConv', 'GATConv']
    """
    found = hidden_convolutions(model, num_outputs)
    if not found:
        raise ModelError(
            f"{type(model).__name__} has no hidden convolution that could get control={control!r}: "
            "it needs a MessagePassing of PyTorch Geometric that takes an edge_index and has "
            "out_channels; wrap others with graphsct.nn.add_control"
        )
    initial = None
    if pick(CONTROLS, control, "control").needs_initial:
        initial = _shared_initial(model, control, found)
    given: dict[str, Any] = dict(num_components=num_components, theta=theta, initial=initial)
    given |= check_options(control_options, "control_options")
    made = {
        conv: add_control(conv, control, layer=layer, **given)
        for layer, conv in enumerate(found, 1)
    }
    late = enumerate(made.items(), 1)
    replace_parts(model, {conv: own for layer, (conv, own) in late if layer >= own.control.first})
    return model


def add_control_for(
    data: Any,
    model: torch.nn.Module,
    control: str | None,
    theta: float,
    control_options: Mapping[str, Any] | None,
    *,
    last: bool,
) -> torch.nn.Module:
    r"""Give smoothness control to a model that was built for some data, if a control is named.

    Args:
        data: the data
        model: the model
        control: name of the control, or none
        theta: the gated controls' :math:`\theta`
        control_options: options of the control
        last: whether the last convolution may be the output layer
    """
    if control is None:
        return model
    needed = pick(CONTROLS, control, "control").needs_components
    return control_convolutions(
        model,
        control,
        num_components=graph_of(data).num_components if needed else None,
        theta=theta,
        num_outputs=num_outputs(data) if last else None,
        control_options=control_options,
    )


def _shared_initial(
    model: torch.nn.Module, control: str, found: dict[torch.nn.Module, int]
) -> Initial:
    """The initial features of all convolutions, forgotten after each forward pass."""
    widths = list(dict.fromkeys(found.values()))
    if len(widths) > 1:
        raise ModelError(
            f"control {control!r} needs hidden convolutions of one width, but those of "
            f"{type(model).__name__} have {', '.join(map(str, widths))} channels: make them equal, "
            "or use control='pooled'"
        )
    initial = Initial()
    initial.follow(model)
    return initial
