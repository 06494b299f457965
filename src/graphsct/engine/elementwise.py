"""Entrywise operations and their gradients, and the softmax of gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.engine.neighbourhood import Rows
from graphsct.engine.program import Program
from graphsct.engine.tape import FUNCTIONS, Node, Tape, Unsupported
from graphsct.engine.weights import Weight

__all__ = ["Concatenation", "Entrywise", "Largest", "Relu", "Scale"]

_aten = torch.ops.aten


class Activation(Node):
    """An activation whose gradient is known from its output.

    Args:
        x: its input
        settings: numbers that the kernels take
    """

    overwrites = True

    def __init__(self, x: Node, *settings: Any) -> None:
        super().__init__(x.tape, [x], x.width)
        self.settings = settings

    @property
    def keeps_output(self) -> bool:
        return True

    def backward(self, do: Program) -> None:
        if self.borrows_grad:
            with self.inputs[0].write_grad(do) as target:
                self.change_gradient(do, self.gradient, self.value, target)
        else:
            self.change_gradient(do, self.gradient, self.value, self.gradient)
            self.inputs[0].take_grad(do, self)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        """Add the calls that turn the gradient of the output into the gradient of the input.

        Args:
            do: where to add the calls
            grad: the gradient of the output
            out: the output
            target: where to write, perhaps over the gradient of the output
        """


class Relu(Activation):
    """ReLU. If only dropout follows, it also zeroes ReLU's gradient, which saves a pass."""

    @property
    def _is_dropped_alone(self) -> bool:
        return len(self.consumers) == 1 and self.consumers[0].stops_at_zero

    @property
    def keeps_output(self) -> bool:
        """Unless the only consumer has zeroed the gradient already."""
        return not self._is_dropped_alone

    def prepare(self) -> None:
        """Let the product that computes the input also apply ReLU, if it can."""
        x = self.inputs[0]
        x.rectified = x.can_rectify and x.may_be_overwritten

    def forward(self, do: Program) -> None:
        if not self.inputs[0].rectified:
            do(torch.clamp_min, self.inputs[0].head, 0, out=self.head)

    @property
    def grad_mask(self) -> Tensor | None:
        alone = len(self.consumers) == 1 and not self.borrows_grad and not self._is_dropped_alone
        return self.value if alone else None

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        if not self._is_dropped_alone and not self.grad_is_masked:
            do(_aten.threshold_backward.grad_input, grad, out, 0, grad_input=target)
        elif target is not grad:
            do(target.copy_, grad)


class LeakyRelu(Activation):
    """Leaky ReLU with a slope below zero."""

    def forward(self, do: Program) -> None:
        do(_aten.leaky_relu.out, self.inputs[0].head, *self.settings, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        """The output has the sign of the input."""
        do(_aten.leaky_relu_backward.grad_input, grad, out, *self.settings, True, grad_input=target)


class Elu(Activation):
    """ELU and SELU, by alpha, scale and the scale of the input."""

    def forward(self, do: Program) -> None:
        do(_aten.elu.out, self.inputs[0].head, *self.settings, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        do(_aten.elu_backward.grad_input, grad, *self.settings, True, out, grad_input=target)


class Tanh(Activation):
    """The hyperbolic tangent."""

    def forward(self, do: Program) -> None:
        do(torch.tanh, self.inputs[0].head, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        do(_aten.tanh_backward.grad_input, grad, out, grad_input=target)


class Sigmoid(Activation):
    """The logistic function."""

    def forward(self, do: Program) -> None:
        do(torch.sigmoid, self.inputs[0].head, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        do(_aten.sigmoid_backward.grad_input, grad, out, grad_input=target)


class Silu(Activation):
    """SiLU, whose gradient needs the input."""

    @property
    def keeps_output(self) -> bool:
        return False

    def keeps(self, x: Node) -> bool:
        return True

    def forward(self, do: Program) -> None:
        do(_aten.silu.out, self.inputs[0].head, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        do(_aten.silu_backward.grad_input, grad, self.inputs[0].head, grad_input=target)


class Maximum(Activation):
    """The larger of each entry and a weight of its channel, as in SReLU."""

    def __init__(self, x: Node, offset: Weight) -> None:
        super().__init__(x)
        self.offset = offset

    def forward(self, do: Program) -> None:
        do(torch.maximum, self.inputs[0].head, self.offset.row, out=self.head)

    def change_gradient(self, do: Program, grad: Tensor, out: Tensor, target: Tensor) -> None:
        """The gradient goes to the entry where it was larger, else to the weight."""
        above, passed = do.arena.take(*out.shape), do.arena.take(out.shape[1])
        do(torch.sub, out, self.offset.row, out=above)
        with self.offset.write_grad(do) as offset:
            do(torch.sum, grad, dim=0, out=offset.view(-1))
            do(_aten.threshold_backward.grad_input, grad, above, 0, grad_input=target)
            do(torch.sum, target, dim=0, out=passed)
            do(offset.view(-1).sub_, passed)
        for array in (above, passed):
            do.arena.release(array)


class Softmax(Node):
    """Softmax over the channels of each run."""

    def __init__(self, x: Node) -> None:
        super().__init__(x.tape, [x], x.width)

    @property
    def keeps_output(self) -> bool:
        return True

    def forward(self, do: Program) -> None:
        x = self.inputs[0].value
        do(_aten._softmax.out, self.runs(x), 2, False, out=self.runs(self.value))

    def backward(self, do: Program) -> None:
        grad, out = self.runs(self.gradient), self.runs(self.value)
        with self.inputs[0].write_grad(do) as target:
            kernel = _aten._softmax_backward_data.out
            do(kernel, grad, out, 2, grad.dtype, grad_input=self.runs(target))


class Entrywise(Node):
    """An operation on the entries of arrays of one shape.

    Args:
        inputs: the arrays
    """

    def __init__(self, *inputs: Node) -> None:
        first = inputs[0]
        super().__init__(first.tape, inputs, first.width)
        if any((x.rows, x.width) != (first.rows, first.width) for x in inputs):
            raise Unsupported("an operation on arrays of different shapes")


class Product(Entrywise):
    """The product of two arrays, entry by entry."""

    def keeps(self, x: Node) -> bool:
        """Both inputs: the gradient of each is computed from the other."""
        return True

    def forward(self, do: Program) -> None:
        do(torch.mul, *(x.value for x in self.inputs), out=self.value)

    def backward(self, do: Program) -> None:
        for x, other in zip(self.inputs, reversed(self.inputs), strict=True):
            with x.write_grad(do) as out:
                do(torch.mul, self.gradient, other.value, out=out)


class Scale(Node):
    """An array times a number, or times a weight of each entry or channel, perhaps plus a bias:
    ``weight * x + bias``.

    Args:
        x: features or coordinates
        weight: a number or a weight; shape: ``(k, width)`` or ``(k, rows, width)``
        bias: a weight or none; shape: ``(k, width)``
    """

    def __init__(self, x: Node, weight: float | Weight, bias: Weight | None = None) -> None:
        super().__init__(x.tape, [x], x.width)
        self.weight, self.bias = weight, bias

    def keeps(self, x: Node) -> bool:
        """For the gradient of a weight."""
        return isinstance(self.weight, Weight)

    def _across(self, array: Tensor) -> Tensor:
        """A weight in the layout of features; shape: ``(rows or 1, k, width)``."""
        return array.transpose(0, 1) if array.dim() == 3 else array.unsqueeze(0)

    def forward(self, do: Program) -> None:
        x, out = self.runs(self.inputs[0].value), self.runs(self.value)
        weight = self.weight
        by = self._across(weight.value) if isinstance(weight, Weight) else weight
        if self.bias is not None:
            do(torch.addcmul, self.bias.value, by, x, out=out)
        else:
            do(torch.mul, x, by, out=out)

    def backward(self, do: Program) -> None:
        """Gradients of the array, the weight and the bias."""
        x, grad = self.inputs[0], self.runs(self.gradient)
        if self.bias is not None:
            with self.bias.write_grad(do) as out:
                do(torch.sum, grad, dim=0, out=out)
        if not isinstance(self.weight, Weight):
            x.take_grad(do, self, self.weight)
            return
        with self.weight.write_grad(do) as out:
            if out.dim() == 3:
                do(torch.mul, grad, self.runs(x.value), out=self._across(out))
            else:
                both = do.arena.take(*grad.shape)
                do(torch.mul, grad, self.runs(x.value), out=both)
                do(torch.sum, both, dim=0, out=out)
                do.arena.release(both)
        with x.write_grad(do) as out:
            do(torch.mul, grad, self._across(self.weight.value), out=self.runs(out))


class Shift(Node):
    """An array plus a weight of each channel."""

    overwrites = True

    def __init__(self, x: Node, bias: Weight) -> None:
        super().__init__(x.tape, [x], x.width)
        self.bias = bias

    def forward(self, do: Program) -> None:
        do(torch.add, self.inputs[0].value, self.bias.row, out=self.value)

    def backward(self, do: Program) -> None:
        """The sum over rows for the weight."""
        with self.bias.write_grad(do) as out:
            do(torch.sum, self.gradient, dim=0, out=out.view(-1))
        self.inputs[0].take_grad(do, self)


class Sum(Entrywise):
    """Two arrays added, as in a residual connection."""

    overwrites = True

    def forward(self, do: Program) -> None:
        do(torch.add, *(x.head for x in self.inputs), out=self.head)

    def backward(self, do: Program) -> None:
        first, second = self.inputs
        nodes = self.tape.nodes
        if isinstance(first, Activation) and nodes[nodes.index(self) - 1] is first is not second:
            # The activation has used the gradient before another node adds to it.
            first.borrows_grad = first.grad is None and second.grad is None
        if first.borrows_grad:
            first.grad = do.arena.share(self.grad)
            second.take_grad(do, self)
        else:
            second.add_grad(do, self.gradient)
            first.take_grad(do, self)


class Lerp(Entrywise):
    """Interpolation between two arrays, ``a + t (b - a)``."""

    def __init__(self, a: Node, b: Node, t: float) -> None:
        super().__init__(a, b)
        self.t = t

    def forward(self, do: Program) -> None:
        do(torch.lerp, *(x.value for x in self.inputs), self.t, out=self.value)

    def backward(self, do: Program) -> None:
        for x, share in zip(self.inputs, (1 - self.t, self.t), strict=True):
            x.take_grad(do, self, share)


class Concatenation(Node):
    """Arrays side by side in each run, as in jumping knowledge."""

    def __init__(self, parts: Sequence[Node]) -> None:
        super().__init__(parts[0].tape, parts, sum(part.width for part in parts))

    def _slices(self, array: Tensor) -> list[Tensor]:
        return list(torch.split(self.runs(array), [x.width for x in self.inputs], dim=2))

    def forward(self, do: Program) -> None:
        for x, out in zip(self.inputs, self._slices(self.head), strict=True):
            do(out.copy_, x.runs(x.head))

    def backward(self, do: Program) -> None:
        for x, grad in zip(self.inputs, self._slices(self.gradient), strict=True):
            with x.write_grad(do) as out:
                do(x.runs(out).copy_, grad)


class Largest(Entrywise):
    """The maximum of several arrays at each entry; ties go to the first."""

    def __init__(self, parts: Sequence[Node]) -> None:
        super().__init__(*parts)

    def forward(self, do: Program) -> None:
        """Compare one after another, and note which was the largest."""
        first, *others = self.inputs
        shape = first.head.shape
        self._where = torch.zeros(shape, dtype=torch.int16)
        larger = torch.zeros(shape, dtype=torch.bool)
        do(self.head.copy_, first.head)
        do(self._where.zero_)
        for number, x in enumerate(others, start=1):
            do(torch.gt, x.head, self.head, out=larger)
            do(self._where.masked_fill_, larger, number)
            do(torch.maximum, self.head, x.head, out=self.head)

    def backward(self, do: Program) -> None:
        chosen = torch.zeros(self._where.shape, dtype=torch.bool)
        for number, x in enumerate(self.inputs):
            do(torch.eq, self._where, number, out=chosen)
            with x.write_grad(do) as out:
                do(torch.mul, self.gradient, chosen, out=out)


def _softmax(tape: Tape, x: Node, dim: int, dtype: Any = None, **rest: Any) -> Node:
    if dim not in (1, -1) or dtype is not None:
        raise Unsupported("softmax over another axis than the channels")
    return Softmax(x)


def _multiply(tape: Tape, a: Any, b: Any) -> Node:
    if isinstance(a, Node) and isinstance(b, Node):
        return Product(a, b)
    node, other = (a, b) if isinstance(a, Node) else (b, a)
    return Scale(node, _factor(tape, node, other))


def _add(tape: Tape, a: Any, b: Any, *, alpha: float = 1) -> Node:
    if alpha != 1:
        raise Unsupported("a sum with a factor")
    if isinstance(a, Node) and isinstance(b, Node):
        return Sum(a, b)
    node, other = (a, b) if isinstance(a, Node) else (b, a)
    return Shift(node, _channels(tape, node, other))


def _addcmul(tape: Tape, bias: Any, a: Any, b: Any, *, value: float = 1) -> Node:
    node, other = (a, b) if isinstance(a, Node) else (b, a)
    if value != 1:
        raise Unsupported("addcmul with a factor")
    return Scale(node, _factor(tape, node, other), _channels(tape, node, bias))


def _factor(tape: Tape, x: Node, other: Any) -> float | Weight:
    if isinstance(other, int | float):
        return float(other)
    if x.rows is Rows.COMPONENTS and isinstance(other, Tensor) and other.shape == x.shape:
        return tape.workspace.weight(other)
    return _channels(tape, x, other)


def _channels(tape: Tape, x: Node, other: Any) -> Weight:
    """A weight with one number per channel of some features."""
    if not isinstance(other, Tensor) or other.shape != x.shape[1:]:
        raise Unsupported("an operation on features and something else than a weight per channel")
    return tape.workspace.weight(other)


def _maximum(tape: Tape, a: Any, b: Any) -> Node:
    if isinstance(a, Node) and isinstance(b, Node):
        return Largest([a, b])
    node, other = (a, b) if isinstance(a, Node) else (b, a)
    return Maximum(node, _channels(tape, node, other))


def _lerp(tape: Tape, a: Any, b: Any, weight: Any) -> Node:
    if not (isinstance(a, Node) and isinstance(b, Node) and isinstance(weight, int | float)):
        raise Unsupported("lerp of something else than two nodes by a number")
    return Lerp(a, b, float(weight))


def _concatenate(tape: Tape, parts: Sequence[Any], dim: int = 0) -> Node:
    nodes = [part for part in parts if isinstance(part, Node)]
    if dim not in (1, -1) or len(nodes) < len(parts) or len({x.rows for x in nodes}) > 1:
        raise Unsupported("a concatenation of something else than channels")
    return Concatenation(parts)


def _activation(kind: type[Activation], x: Node, *settings: Any, inplace: bool = False) -> Node:
    if any(number < 0 for number in settings):
        raise Unsupported("an activation whose output does not tell the sign of its input")
    node = kind(x, *settings)
    if inplace:
        x.unreadable = "features that are read after an operation has changed them in place"
    return node


_SELU = (1.6732632423543772, 1.0507009873554805, 1)
FUNCTIONS |= {
    F.relu: lambda tape, x, inplace=False: _activation(Relu, x, inplace=inplace),
    torch.relu: lambda tape, x: Relu(x),
    F.leaky_relu: lambda tape, x, negative_slope=0.01, inplace=False: _activation(
        LeakyRelu, x, negative_slope, inplace=inplace
    ),
    F.elu: lambda tape, x, alpha=1.0, inplace=False: _activation(
        Elu, x, alpha, 1, 1, inplace=inplace
    ),
    F.selu: lambda tape, x, inplace=False: _activation(Elu, x, *_SELU, inplace=inplace),
    F.silu: lambda tape, x, inplace=False: _activation(Silu, x, inplace=inplace),
    torch.tanh: lambda tape, x: Tanh(x),
    torch.sigmoid: lambda tape, x: Sigmoid(x),
    torch.maximum: _maximum,
    torch.softmax: _softmax,
    F.softmax: lambda tape, x, dim=None, _stacklevel=3, dtype=None: _softmax(tape, x, dim, dtype),
    torch.lerp: _lerp,
    torch.mul: _multiply,
    Tensor.mul: _multiply,
    torch.add: _add,
    Tensor.add: _add,
    torch.addcmul: _addcmul,
    torch.cat: _concatenate,
}
