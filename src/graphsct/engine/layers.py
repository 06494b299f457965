r"""Forward and backward of one controlled convolution for k runs at once, written by hand.

The three models are one formula. With :math:`\mathbf M = g \mathbf G + u \mathbf I`,

.. math::
    \mathbf C = \mathbf M \mathbf X + v \mathbf H^0, \qquad
    \mathbf Z = \mathbf C \mathbf V + \mathbf Q \mathbf A(\mathbf P), \qquad
    \mathbf V = s \mathbf I + b \mathbf W

where the coefficients :math:`\mathbf A` of the control are those of its input's coordinates
:math:`\mathbf P = \mathbf Q^\top \mathbf C \mathbf V`. As :math:`\mathbf Q^\top \mathbf G =
\mathbf Q^\top`, they need no propagated features: :math:`\mathbf Q^\top \mathbf C = (g + u)
\mathbf Q^\top \mathbf X + v \mathbf Q^\top \mathbf H^0`.

So coordinates go the way of features. They are kept as m more rows behind them, and one product
with :math:`\mathbf V` serves both; so does each product on the way back, where the sparse one is
with :math:`[\mathbf M \; (g + u) \mathbf Q]`. Without control there are no such rows.

Features of k runs stand side by side, ``(n, k * d)``: one sparse product serves all of them, and
dense products are batched.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.calls import Calls, multiply, multiply_transposed
from graphsct.engine.controls import COEFFICIENTS
from graphsct.engine.operators import Operators, read
from graphsct.engine.weights import Stack

__all__ = ["LateLayer", "Layer"]


class Layer:
    """One convolution of k runs.

    Args:
        conv: the convolution of one of the runs, for its settings
        name: of the convolution in the model
        stack: the weights of all runs
        operators: what to multiply by
        matrix: V, which others keep up to date; the weight itself if left out; ``(k, d, d)``
    """

    def __init__(
        self, conv: Any, name: str, stack: Stack, operators: Operators, matrix: Tensor | None = None
    ) -> None:
        self.numbers, weight = read(conv, name)
        self.weight_grad = stack.grad[weight]
        self.matrix = stack.value[weight] if matrix is None else matrix
        self.operators = operators
        self.control = None
        if conv.control is not None:
            kind = COEFFICIENTS[conv.control.kind]
            self.control = kind(conv.control, f"{name}.control", stack)

    def forward(
        self, do: Calls, x: Tensor, scale: float, start: Tensor, *, mixed: Tensor, out: Tensor
    ) -> None:
        r"""Features before the activation; ``(n, k d) -> (r + m, k d)``.

        Args:
            do: where to add the calls
            x: the layer's input, to be multiplied by ``scale``; shape: ``(n, k d)``
            scale: of dropout
            start: initial features of the r nodes, and coordinates of all; shape: ``(r + m, k d)``
            mixed: where to write :math:`\mathbf C`; shape: ``(r + m, k d)``
            out: where to write the result; shape: ``(r + m, k d)``
        """
        g, u, v, _, _ = self.numbers
        own, r = self.operators, self.operators.forward.shape[0]
        self.mixed = mixed
        first = start[:r] if v else mixed[:r]
        do(torch.addmm, first, own.forward, x, beta=v, alpha=scale, out=mixed[:r])
        if self.control is not None:
            tail = (g + u) * scale
            own.everywhere.pool(do, x, mixed[r:], scale=tail, start=start[r:] if v else None, v=v)
        multiply(do, mixed, self.matrix, out)
        if self.control is not None:
            a = do.scratch("coefficients", *out[r:].shape)
            self.control.forward(do, out[r:], start[r:], a)
            own.here.add(do, a, out[:r])

    def backward(
        self, do: Calls, dz: Tensor, scale: float, dstart: Tensor, *, above: Tensor, out: Tensor
    ) -> None:
        """Gradient of the input; adds to those of the initial features, fills those of weights.

        Args:
            do: where to add the calls
            dz: gradient of the output at the r nodes, and room; shape: ``(r + m, k d)``
            scale: that of :meth:`forward`
            dstart: gradient of the initial features so far; shape: ``(n + m, k d)``
            above: room for gradients between; shape: ``(r + m, k d)``
            out: where to write the result; shape: ``(n, k d)``
        """
        _, _, v, _, b = self.numbers
        own, r = self.operators, self.operators.forward.shape[0]
        self._backward_control(do, dz, r, dstart)
        multiply(do, dz, self.matrix.transpose(1, 2), above)
        multiply_transposed(do, self.mixed, dz, self.weight_grad, b)
        if v and own.rows is not None:
            do(dstart.index_add_, 0, own.rows, above, alpha=v)
        elif v:
            do(dstart.add_, above, alpha=v)
        do(torch.addmm, out, own.backward, above, beta=0, alpha=scale, out=out)

    def _backward_control(self, do: Calls, dz: Tensor, r: int, dstart: Tensor) -> None:
        """Gradient of the coordinates, behind that of the output."""
        if self.control is not None:
            da = do.scratch("coefficients", *dz[r:].shape)
            self.operators.here.pool(do, dz[:r], da)
            dp_0 = dstart[self.operators.backward.shape[0] :]
            self.control.backward(do, da, dp_0, dz[r:])


class LateLayer(Layer):
    r"""A convolution of GCN at all nodes in the other order, :math:`\mathbf Z = \mathbf G \mathbf T
    + \mathbf Q \mathbf A(\mathbf Q^\top \mathbf T)` with :math:`\mathbf T = \mathbf X \mathbf W`.

    Then nothing but its input has to be kept, and the control goes through the convolution's own
    sparse product in both directions, :math:`[\mathbf G \; \mathbf Q]`.
    """

    def forward(
        self, do: Calls, x: Tensor, scale: float, start: Tensor, *, mixed: Tensor, out: Tensor
    ) -> None:
        r"""As :meth:`Layer.forward`, with ``mixed`` for :math:`[\mathbf T; \mathbf A]`."""
        own, n = self.operators, x.shape[0]
        self.x = x
        multiply(do, x, self.matrix, mixed[:n], scale=scale)
        if self.control is not None:
            own.everywhere.pool(do, mixed[:n], out[n:])
            self.control.forward(do, out[n:], start[n:], mixed[n:])
        do(torch.addmm, out[:n], own.backward, mixed, beta=0, out=out[:n])

    def backward(
        self, do: Calls, dz: Tensor, scale: float, dstart: Tensor, *, above: Tensor, out: Tensor
    ) -> None:
        """As :meth:`Layer.backward`."""
        n = self.x.shape[0]
        self._backward_control(do, dz, n, dstart)
        dt = above[:n]
        do(torch.addmm, dt, self.operators.backward, dz, beta=0, out=dt)
        multiply_transposed(do, self.x, dt, self.weight_grad, scale)
        multiply(do, dt, self.matrix.transpose(1, 2), out, scale=scale)
