"""Activations of k runs in place, and their gradients from what they gave."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.calls import Calls
from graphsct.engine.weights import Stack
from graphsct.nn.activations import SReLU

__all__ = ["BENDS", "Bend"]

_aten = torch.ops.aten


class Bend:
    """ReLU. Its gradient, and that of dropout after it, is known from the sign of the result.

    Args:
        module: the activation of one of the runs, for its settings
        name: of the activation in the model
        stack: the weights of all runs
    """

    through_dropout = True

    def __init__(self, module: Any, name: str, stack: Stack) -> None:
        self.module = module

    def forward(self, do: Calls, z: Tensor) -> None:
        """Bend in place; shape: ``(n, k d)``."""
        do(torch.clamp_min, z, 0, out=z)

    def backward(self, do: Calls, dh: Tensor, h: Tensor) -> None:
        """Gradient before the bend, in place of ``dh``; shapes: ``(n, k d)``."""
        do(_aten.threshold_backward.grad_input, dh, h, 0, grad_input=dh)


class _Leaky(Bend):
    through_dropout = False

    def forward(self, do: Calls, z: Tensor) -> None:
        do(torch.nn.functional.leaky_relu_, z, self.module.negative_slope)

    def backward(self, do: Calls, dh: Tensor, h: Tensor) -> None:
        slope = self.module.negative_slope
        do(_aten.leaky_relu_backward.grad_input, dh, h, slope, True, grad_input=dh)


class _Elu(Bend):
    through_dropout = False

    def __init__(self, module: Any, name: str, stack: Stack) -> None:
        super().__init__(module, name, stack)
        selu = isinstance(module, torch.nn.SELU)
        self.numbers = (1.6732632423543772, 1.0507009873554805, 1) if selu else (module.alpha, 1, 1)

    def forward(self, do: Calls, z: Tensor) -> None:
        do(_aten.elu_, z, *self.numbers)

    def backward(self, do: Calls, dh: Tensor, h: Tensor) -> None:
        do(_aten.elu_backward.grad_input, dh, *self.numbers, True, h, grad_input=dh)


class _Tanh(Bend):
    through_dropout = False

    def forward(self, do: Calls, z: Tensor) -> None:
        do(z.tanh_)

    def backward(self, do: Calls, dh: Tensor, h: Tensor) -> None:
        do(_aten.tanh_backward.grad_input, dh, h, grad_input=dh)


class _Shifted(Bend):
    through_dropout = False

    def __init__(self, module: Any, name: str, stack: Stack) -> None:
        super().__init__(module, name, stack)
        self.offset = stack.value[f"{name}.offset"].view(-1)
        self.offset_grad = stack.grad[f"{name}.offset"].view(-1)

    def forward(self, do: Calls, z: Tensor) -> None:
        do(torch.maximum, z, self.offset, out=z)

    def backward(self, do: Calls, dh: Tensor, h: Tensor) -> None:
        above, passed = do.scratch("over", *h.shape), do.scratch("passed", h.shape[1])
        do(torch.sub, h, self.offset, out=above)
        do(torch.sum, dh, dim=0, out=self.offset_grad)
        do(_aten.threshold_backward.grad_input, dh, above, 0, grad_input=dh)
        do(torch.sum, dh, dim=0, out=passed)
        do(self.offset_grad.sub_, passed)


#: By the type of the activation's module.
BENDS: dict[type[torch.nn.Module], type[Bend]] = {
    torch.nn.ReLU: Bend,
    torch.nn.LeakyReLU: _Leaky,
    torch.nn.ELU: _Elu,
    torch.nn.SELU: _Elu,
    torch.nn.Tanh: _Tanh,
    SReLU: _Shifted,
}
