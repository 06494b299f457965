"""The activations whose range of smoothness is known."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphsct.errors import GraphError

__all__ = ["ACTIVATIONS", "negative_slope_of", "resolve", "slope_of"]

#: The activations whose range is known, with PyTorch's default parameters.
ACTIVATIONS: dict[str, nn.Module] = {
    "relu": nn.ReLU(),
    "leaky_relu": nn.LeakyReLU(),
    "identity": nn.Identity(),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
}


def resolve(activation: str | nn.Module) -> nn.Module:
    """The module of an activation given by name or as a module."""
    if isinstance(activation, nn.Module):
        return activation
    if activation not in ACTIVATIONS:
        raise GraphError(
            f"activation is {activation!r}, expected one of {', '.join(ACTIVATIONS)}, or a module "
            "such as torch.nn.LeakyReLU(0.2)"
        )
    return ACTIVATIONS[activation]


def negative_slope_of(activation: nn.Module) -> float | None:
    """The slope below 0 of a piecewise linear activation, ``None`` for ELU and SELU."""
    match activation:
        case nn.ReLU():
            return 0.0
        case nn.Identity():
            return 1.0
        case nn.LeakyReLU() if 0 <= activation.negative_slope <= 1:
            return float(activation.negative_slope)
        case nn.SELU():
            return None
        case nn.ELU() if activation.alpha > 0:
            return None
    raise GraphError(
        f"the range of {activation} is not known; expected ReLU, LeakyReLU with a slope from 0 to "
        "1, Identity, SELU or ELU with a positive alpha"
    )


def slope_of(activation: nn.Module, z: Tensor) -> Tensor:
    """The slope of an activation at each entry; at a kink, the slope below it. Shape of ``z``."""
    below = negative_slope_of(activation)
    if below is not None:
        above = torch.gt(z, 0, out=torch.empty_like(z))
        return above.mul_(1 - below).add_(below) if below else above
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        (slope,) = torch.autograd.grad(activation(z).sum(), z)
    return slope
