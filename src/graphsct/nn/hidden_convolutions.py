"""The convolutions of a model that somebody else wrote."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

import torch

from graphsct.nn.convolution import Convolution
from graphsct.nn.wrap import ControlledConv, output_channels

__all__ = ["find_convolutions", "hidden_convolutions", "replace_parts"]


def find_convolutions(model: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, int]]:
    """The convolutions in a model, in the order of its parts, with the widths of their outputs.

    A convolution is a ``MessagePassing`` of PyTorch Geometric, or one of ours, that takes an
    ``edge_index`` and has an output of known width.
    """
    from torch_geometric.nn import MessagePassing  # takes a second

    for part in model.children():
        width = None
        if isinstance(part, MessagePassing | Convolution):
            width = output_channels(part)
        if width is not None and "edge_index" in inspect.signature(part.forward).parameters:
            yield part, width
        elif not isinstance(part, ControlledConv):
            yield from find_convolutions(part)


def hidden_convolutions(
    model: torch.nn.Module, num_outputs: int | None
) -> dict[torch.nn.Module, int]:
    """The convolutions of a model but for the output layer, with the widths of their outputs.

    Args:
        model: any model
        num_outputs: a last convolution of this width is the output layer; if left out, the last
            convolution is a hidden one
    """
    found = dict(find_convolutions(model))
    if found and num_outputs is not None and [*found.values()][-1] == num_outputs:
        found.popitem()
    return found


def replace_parts(
    model: torch.nn.Module, others: Mapping[torch.nn.Module, torch.nn.Module]
) -> None:
    """Replace parts of a model by modules that contain them, in place, wherever they stand."""
    for parent in list(model.modules()):
        for name, part in parent._modules.items():
            if part is not None and part in others:
                setattr(parent, name, others[part])
