"""Wrappers that add a step before or after the convolutions of any model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.nn.blueprint import num_outputs
from graphsct.nn.checks import check_share
from graphsct.nn.hidden_convolutions import (
    find_convolutions,
    hidden_convolutions,
    replace_parts,
)
from graphsct.nn.wrap import Initial

__all__ = [
    "ChangedConv",
    "DroppedConv",
    "InitialConv",
    "NormalizedConv",
    "ResidualConv",
    "change_convolutions",
    "find_hidden",
    "hidden_widths",
    "outputs_of",
]


class ChangedConv(torch.nn.Module):
    """The base of the wrappers: called as the convolution itself, with two methods to override.

    Args:
        conv: any convolution whose first argument is the features
    """

    def __init__(self, conv: torch.nn.Module) -> None:
        super().__init__()
        self.conv = conv
        self._first = next(iter(inspect.signature(conv.forward).parameters))

    def before(self, x: Tensor) -> Tensor:
        """The features that the convolution gets."""
        return x

    def after(self, out: Tensor, x: Tensor) -> Tensor:
        """The new features, from the output and the input of the convolution."""
        return out

    def reset_parameters(self) -> None:
        """Reset the parameters of the convolution, and of the added step if it has any."""
        parts: Any = self.children()
        for part in parts:
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the convolution; the arguments are its own."""
        if args:
            args = (self.before(args[0]), *args[1:])
            x = args[0]
        else:
            kwargs[self._first] = x = self.before(kwargs[self._first])
        result = self.conv(*args, **kwargs)
        out, *others = result if isinstance(result, tuple) else (result,)
        out = self.after(out, x)
        return (out, *others) if others else out


class NormalizedConv(ChangedConv):
    r"""A norm after a convolution, and thus before the activation."""

    def __init__(self, conv: torch.nn.Module, norm: torch.nn.Module) -> None:
        super().__init__(conv)
        self.norm = norm

    def after(self, out: Tensor, x: Tensor) -> Tensor:
        """Normalise."""
        normal: Tensor = self.norm(out)
        return normal


class ResidualConv(ChangedConv):
    r"""The input of a convolution is added to its output where both have one shape,
    :math:`\operatorname{conv}(\mathbf X) + \mathbf X`, before the activation.
    """

    def after(self, out: Tensor, x: Tensor) -> Tensor:
        """Add the input."""
        return out + x if out.shape == x.shape else out


class InitialConv(ChangedConv):
    r"""A share of the first convolution's output in every other one, :math:`(1 - \alpha)
    \operatorname{conv}(\mathbf X) + \alpha \mathbf X^0`, before the activation.
    """

    def __init__(self, conv: torch.nn.Module, share: float, initial: Initial) -> None:
        super().__init__(conv)
        self.share = check_share(share, "share")
        self._initial = initial

    def after(self, out: Tensor, x: Tensor) -> Tensor:
        """Mix."""
        return torch.lerp(out, self._initial.take(out), self.share)


class DroppedConv(ChangedConv):
    """Dropout before a convolution.

    Args:
        conv: the convolution
        rate: rate of the dropout
        drop: ``drop(x, rate, training)``
    """

    def __init__(
        self, conv: torch.nn.Module, rate: float, drop: Callable[[Tensor, float, bool], Tensor]
    ) -> None:
        super().__init__(conv)
        self.rate, self._drop = rate, drop

    def before(self, x: Tensor) -> Tensor:
        """Drop."""
        return self._drop(x, self.rate, self.training)


def change_convolutions(
    model: torch.nn.Module,
    data: Any,
    make: Callable[[torch.nn.Module, int], torch.nn.Module],
    *,
    hidden: bool = True,
) -> None:
    """Replace the convolutions of a model by changed ones, in place.

    Args:
        model: any model
        data: the data it is made for, or none
        make: returns the changed convolution, given a convolution and the width of its output
        hidden: leave the output layer as it is
    """
    found = find_hidden(model, data) if hidden else _find(model, None)
    weight = next(model.parameters())
    replace_parts(model, {conv: make(conv, width).to(weight) for conv, width in found.items()})


def hidden_widths(model: torch.nn.Module, data: Any) -> list[int]:
    """The widths of the outputs of a model's hidden convolutions.

    Args:
        model: any model
        data: the data it is made for, or none
    """
    return list(find_hidden(model, data).values())


def find_hidden(model: torch.nn.Module, data: Any) -> dict[torch.nn.Module, int]:
    """The hidden convolutions of a model in order, with the widths of their outputs.

    Args:
        model: any model
        data: the data it is made for, or none
    """
    return _find(model, outputs_of(model, data))


def _find(model: torch.nn.Module, num_outputs: int | None) -> dict[torch.nn.Module, int]:
    found = hidden_convolutions(model, num_outputs)
    if not found:
        raise ModelError(
            f"{type(model).__name__} has no hidden convolution that could be changed; it needs a "
            "MessagePassing of PyTorch Geometric that takes an edge_index and has out_channels"
        )
    return found


def outputs_of(model: torch.nn.Module, data: Any) -> int | None:
    """The number of outputs of a model: of its data, else of the model, else of its convolutions.

    A last convolution that is as wide as the one before is a hidden one.
    """
    if data is not None:
        return num_outputs(data)
    told = getattr(model, "out_channels", None)
    if isinstance(told, int):
        return told
    widths = [width for _, width in find_convolutions(model)]
    return widths[-1] if len(widths) > 1 and widths[-1] != widths[-2] else None
