"""Dense products: each run's features times its own matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.engine.program import Program, multiply, multiply_transposed
from graphsct.engine.tape import FUNCTIONS, Node, Tape, Unsupported
from graphsct.engine.weights import Weight, Weights

__all__ = ["Bias", "Matrix", "Multiply", "linear"]


class Matrix:
    r"""The matrix that features are multiplied by, :math:`\mathbf V = s \mathbf I + b \mathbf W`.

    Args:
        weight: W; shape: ``(k, d, d')``
        identity: the number s
        weight_scale: the number b
    """

    def __init__(self, weight: Weight, identity: float = 0.0, weight_scale: float = 1.0) -> None:
        self.weight, self.identity, self.weight_scale = weight, identity, weight_scale
        self.value = torch.empty_like(weight.value) if self.is_mixed else weight.value

    @property
    def is_mixed(self) -> bool:
        """Whether V is anything but W."""
        return (self.identity, self.weight_scale) != (0, 1)

    @staticmethod
    def refresh(do: Program, matrices: Sequence[Matrix], weights: Weights) -> None:
        """Add the calls that compute V from W, in one call if the weights are adjacent."""
        mixed = [matrix for matrix in matrices if matrix.is_mixed]
        if not mixed:
            return
        together = weights.layers("value", [matrix.weight.name for matrix in mixed])
        if together is None:
            for matrix in mixed:
                weight, eye = matrix.weight.value, _eye(matrix.value)
                scale = torch.full((), matrix.weight_scale, dtype=eye.dtype)
                do(torch.addcmul, matrix.identity * eye, weight, scale, out=matrix.value)
            return
        eye = _eye(together)
        identity, scale = (
            torch.tensor([getattr(matrix, part) for matrix in mixed], dtype=eye.dtype).view(
                -1, 1, 1, 1
            )
            for part in ("identity", "weight_scale")
        )
        values = torch.empty_like(together)
        for matrix, value in zip(mixed, values, strict=True):
            matrix.value = value
        do(torch.addcmul, identity * eye, together, scale, out=values)


def _eye(like: Tensor) -> Tensor:
    return torch.eye(*like.shape[-2:], dtype=like.dtype)


class Multiply(Node):
    r"""A dense product, :math:`\mathbf X \mathbf V + \mathbf 1 \mathbf b^\top`.

    Args:
        x: features, or coordinates
        matrix: V
        bias: b, or none
    """

    folds_grad_scale = True

    def __init__(self, x: Node, matrix: Matrix, bias: Weight | None = None) -> None:
        super().__init__(x.tape, [x], matrix.value.shape[2])
        self.matrix, self.bias, self.behind = matrix, bias, x.behind

    def keeps(self, x: Node) -> bool:
        """For the gradient of the matrix."""
        return True

    def folds_scale(self, x: Node) -> bool:
        return True

    def forward(self, do: Program) -> None:
        (x,) = self.inputs
        bias = None if self.bias is None else self.bias.value
        multiply(do, x.value, self.matrix.value, self.value, scale=x.scale, bias=bias)

    def backward(self, do: Program) -> None:
        """Gradients of the features, the matrix and the bias."""
        (x,), matrix, scale = self.inputs, self.matrix, self.grad_scale
        across = matrix.value.transpose(1, 2)
        if scale == 1 and x.grad is not None and self.tape.k == 1:
            multiply(do, self.gradient, across, x.gradient, scale=x.scale, add=True)
        elif scale == 1:
            mask = x.grad_mask if x.grad is None else None
            with x.write_grad(do) as out:
                multiply(do, self.gradient, across, out, scale=x.scale, mask=mask)
            x.grad_is_masked = mask is not None
        else:
            array = do.arena.take(*x.value.shape)
            multiply(do, self.gradient, across, array, scale=x.scale)
            x.add_grad(do, array, scale)
            do.arena.release(array)
        with matrix.weight.write_grad(do) as out:
            factor = matrix.weight_scale * scale * x.scale
            multiply_transposed(do, x.value, self.gradient, out, factor)
        if self.bias is not None:
            with self.bias.write_grad(do) as out:
                do(torch.sum, self.gradient, dim=0, out=out.view(-1))
                if scale != 1:
                    do(out.mul_, scale)


class Bias(Node):
    r"""A bias at each node, :math:`\mathbf X + \mathbf 1 \mathbf b^\top`; the coordinates behind
    the features become :math:`\mathbf Q^\top \mathbf X + \mathbf Q^\top \mathbf 1 \mathbf b^\top`.

    Args:
        x: features
        bias: b
        column: the coordinates of ones, :math:`\mathbf Q^\top \mathbf 1`; shape: ``(m,)``
    """

    overwrites = True

    def __init__(self, x: Node, bias: Weight, column: Tensor) -> None:
        super().__init__(x.tape, [x], x.width)
        self.bias, self.behind, self._column = bias, x.behind, column

    def prepare(self) -> None:
        """Set one factor per row; the factors of the coordinates come last."""
        factors = [self._column.new_ones(self.count), self._column]
        self._factors = torch.cat(factors[: 1 + self.behind]).unsqueeze(1)

    def forward(self, do: Program) -> None:
        """Add a product of a column and a row."""
        do(torch.addcmul, self.inputs[0].value, self._factors, self.bias.row, out=self.value)

    def backward(self, do: Program) -> None:
        """The gradient of the bias is a sum over rows, weighted by their factors."""
        with self.bias.write_grad(do) as out:
            do(torch.mm, self._factors.t(), self.gradient, out=out.view(1, -1))
        self.inputs[0].take_grad(do, self)


def linear(tape: Tape, x: Any, weight: Any, bias: Any = None) -> Node:
    """Record :func:`torch.nn.functional.linear` of features, coordinates or the data."""
    made = tape.workspace.weight(bias) if bias is not None else None
    matrix = tape.workspace.weight(weight)
    if not matrix.transposed:
        raise Unsupported("a linear map by a weight that is not that of a torch.nn.Linear")
    if hasattr(x, "layer"):
        layer: Node = x.layer(matrix, made)
        return layer
    return Multiply(x, Matrix(matrix), made)


FUNCTIONS[F.linear] = linear
