r"""The coefficients :math:`\mathbf A(\mathbf P)` of smoothness controls for k runs at once.

Coordinates :math:`\mathbf P` of all runs stand side by side, ``(m, k d)``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.calls import Calls, multiply, multiply_transposed
from graphsct.engine.weights import Stack
from graphsct.nn.controls import SmoothnessControl

__all__ = ["COEFFICIENTS"]

_aten = torch.ops.aten


class _Pooled:
    """Each coordinate times a weight of its own, and a bias.

    Args:
        control: of one of the runs, for its settings
        name: of the control in the model
        stack: the weights of all runs
    """

    def __init__(self, control: SmoothnessControl, name: str, stack: Stack) -> None:
        name = f"{name}.coefficients"
        # (k, m, d) as (m, k, d), like the coordinates
        self.weight = stack.value[f"{name}.weight"].transpose(0, 1)
        self.weight_grad = stack.grad[f"{name}.weight"].transpose(0, 1)
        self.bias, self.bias_grad = stack.value[f"{name}.bias"], stack.grad[f"{name}.bias"]

    def forward(self, do: Calls, p: Tensor, p_0: Tensor, out: Tensor) -> None:
        """Write the coefficients.

        Args:
            do: where to add the calls
            p: coordinates, which must last until :meth:`backward`; shape: ``(m, k d)``
            p_0: those of the initial features; shape: ``(m, k d)``
            out: where to write; shape: ``(m, k d)``
        """
        self.p = p.view(self.weight.shape)
        do(torch.addcmul, self.bias, self.weight, self.p, out=out.view(self.weight.shape))

    def backward(self, do: Calls, da: Tensor, dp_0: Tensor, out: Tensor) -> None:
        """Gradient of the coordinates; adds to those of the initial ones, fills those of weights.

        Args:
            do: where to add the calls
            da: gradient of the coefficients; shape: ``(m, k d)``
            dp_0: that of the initial coordinates so far; shape: ``(m, k d)``
            out: where to write; shape: ``(m, k d)``
        """
        da, out = da.view(self.weight.shape), out.view(self.weight.shape)
        do(torch.mul, da, self.p, out=self.weight_grad)
        do(torch.sum, da, dim=0, out=self.bias_grad)
        do(torch.mul, da, self.weight, out=out)


class _Gated:
    """Softmax of the coordinates times a linear map of them; arguments as for the one above."""

    def __init__(self, control: SmoothnessControl, name: str, stack: Stack) -> None:
        coefficients: Any = control.coefficients
        self.beta: float = coefficients.beta
        self._take(f"{name}.coefficients", stack)

    def _take(self, name: str, stack: Stack) -> None:
        self.weight, self.weight_grad = (
            part[f"{name}.linear.weight"] for part in (stack.value, stack.grad)
        )
        self.bias, self.bias_grad = (
            part[f"{name}.linear.bias"] for part in (stack.value, stack.grad)
        )

    def _map(self, do: Calls, p: Tensor, p_0: Tensor, out: Tensor) -> None:
        self.between = do.make(*p.shape)
        do(torch.lerp, p, p_0, self.beta, out=self.between)
        multiply(do, self.between, self.weight, out, bias=self.bias)

    def _map_backward(self, do: Calls, du: Tensor, dp: Tensor, dp_0: Tensor) -> None:
        multiply_transposed(do, self.between, du, self.weight_grad)
        do(torch.sum, du, dim=0, out=self.bias_grad.view(-1))
        dbetween = do.scratch("between", *du.shape)
        multiply(do, du, self.weight.transpose(1, 2), dbetween)
        do(dp.add_, dbetween, alpha=1 - self.beta)
        do(dp_0.add_, dbetween, alpha=self.beta)

    def _runs(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], len(self.weight), -1)

    def forward(self, do: Calls, p: Tensor, p_0: Tensor, out: Tensor) -> None:
        """Write the coefficients."""
        self.parts = do.make(2, *p.shape)
        gate, mapped = self.parts
        do(_aten._softmax.out, self._runs(p), 2, False, out=self._runs(gate))
        self._map(do, p, p_0, mapped)
        do(torch.mul, gate, mapped, out=out)

    def backward(self, do: Calls, da: Tensor, dp_0: Tensor, out: Tensor) -> None:
        """Gradient of the coordinates."""
        gate, runs = self.parts[0], self._runs
        both = do.scratch("parts", *self.parts.shape)
        do(torch.mul, da, self.parts, out=both)  # gradients of the map and of the gate
        softmax_backward = _aten._softmax_backward_data.out
        do(softmax_backward, runs(both[1]), runs(gate), 2, da.dtype, grad_input=runs(out))
        self._map_backward(do, both[0], out, dp_0)


class _GatedFull(_Gated):
    def _take(self, name: str, stack: Stack) -> None:
        self.weight, self.weight_grad = (
            part[f"{name}.current.weight"] for part in (stack.value, stack.grad)
        )
        self.initial, self.initial_grad = (
            part[f"{name}.initial.weight"] for part in (stack.value, stack.grad)
        )

    def _map(self, do: Calls, p: Tensor, p_0: Tensor, out: Tensor) -> None:
        self.inputs, first = (p, p_0), do.scratch("between", *p.shape)
        multiply(do, p, self.weight, out)
        multiply(do, p_0, self.initial, first)
        do(torch.lerp, out, first, self.beta, out=out)

    def _map_backward(self, do: Calls, du: Tensor, dp: Tensor, dp_0: Tensor) -> None:
        for x, dx, weight, grad, share in (
            (self.inputs[0], dp, self.weight, self.weight_grad, 1 - self.beta),
            (self.inputs[1], dp_0, self.initial, self.initial_grad, self.beta),
        ):
            multiply_transposed(do, x, du, grad, share)
            through = do.scratch("between", *du.shape)
            multiply(do, du, weight.transpose(1, 2), through)
            do(dx.add_, through, alpha=share)


#: By the name of the control.
COEFFICIENTS: dict[str, Any] = {"pooled": _Pooled, "gated": _Gated, "gated_full": _GatedFull}
