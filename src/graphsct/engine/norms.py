"""Norms of k runs: centering, scaling to unit size, and batch and layer normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.elementwise import Scale
from graphsct.engine.program import Program, add_products
from graphsct.engine.tape import Node, Tape, Unsupported
from graphsct.engine.weights import Weight

__all__ = ["recorder_of_norm"]

_aten = torch.ops.aten

_NODES, _RUN, _ROW = (0,), (0, 2), (2,)  # axes of (rows, k, width) to take means and sums over


class Center(Node):
    """An array less its mean, over nodes, channels or both.

    Args:
        x: features
        axes: to take the mean over
    """

    overwrites = True

    def __init__(self, x: Node, axes: tuple[int, ...]) -> None:
        super().__init__(x.tape, [x], x.width)
        self.rowwise = axes == _ROW
        self._axes = axes

    def _subtract_mean(self, do: Program, x: Tensor, out: Tensor) -> None:
        x, out = self.runs(x), self.runs(out)
        mean = do.arena.take(*x.sum(self._axes, keepdim=True).shape)
        do(torch.mean, x, self._axes, keepdim=True, out=mean)
        do(torch.sub, x, mean, out=out)
        do.arena.release(mean)

    def forward(self, do: Program) -> None:
        self._subtract_mean(do, self.inputs[0].head, self.head)

    def backward(self, do: Program) -> None:
        self._subtract_mean(do, self.gradient, self.gradient)
        self.inputs[0].take_grad(do, self)


class Unit(Node):
    """An array divided by its size, ``factor * x / size``, with one size per run or row.

    Args:
        x: features
        axes: the axes of the sum of squares
        size: computes the size and its derivative from the sum of squares
        factor: multiplies the output
    """

    def __init__(
        self,
        x: Node,
        axes: tuple[int, ...],
        size: Callable[[Tensor], tuple[Tensor, Tensor]],
        factor: float = 1.0,
    ) -> None:
        super().__init__(x.tape, [x], x.width)
        self.rowwise = axes == _ROW
        self._axes, self._size, self._factor = axes, size, factor

    def keeps(self, x: Node) -> bool:
        return True

    def forward(self, do: Program) -> None:
        x = self.runs(self.inputs[0].head)
        product, total = do.arena.take(*x.shape), x.sum(self._axes, keepdim=True)
        self._sizes, self._slopes = torch.empty_like(total), torch.empty_like(total)
        do(torch.mul, x, x, out=product)
        do(torch.sum, product, self._axes, keepdim=True, out=total)
        do(self._measure, total)
        do(torch.mul, x, self._sizes, out=self.runs(self.head))
        do.arena.release(product)

    def _measure(self, total: Tensor) -> None:
        """Compute ``factor / size``, and twice its derivative by the sum of squares."""
        size, slope = self._size(total)
        torch.div(self._factor, size, out=self._sizes)
        torch.div(-2 * self._factor * slope, size.square(), out=self._slopes)

    def backward(self, do: Program) -> None:
        """The gradient shrinks in the direction of the array."""
        x, grad = self.runs(self.inputs[0].head), self.runs(self.gradient)
        product, along = do.arena.take(*x.shape), torch.empty_like(self._sizes)
        do(torch.mul, x, grad, out=product)
        do(torch.sum, product, self._axes, keepdim=True, out=along)
        do(torch.mul, along, self._slopes, out=along)
        do(torch.mul, grad, self._sizes, out=grad)
        do(torch.addcmul, grad, x, along, out=grad)
        do.arena.release(product)
        self.inputs[0].take_grad(do, self)


class BatchNorm(Node):
    """Batch normalisation over all nodes, of an array that is centered in training.

    In training the mean is subtracted already; in evaluation the running moments, weight and bias
    combine into one factor and one shift per channel.

    Args:
        x: features
        module: of one run, for its settings
        weight: shape: ``(k, width)``
        bias: shape: ``(k, width)``
        variance: running variance; shape: ``(k, width)``
        mean: running mean; shape: ``(k, width)``
    """

    def __init__(
        self, x: Node, module: Any, weight: Weight, bias: Weight, variance: Tensor, mean: Tensor
    ) -> None:
        super().__init__(x.tape, [x], x.width)
        self.rowwise = self.overwrites = not x.tape.training
        self.weight, self.bias, self._module = weight, bias, module
        self._variance, self._mean = variance.view(-1), mean.view(-1)
        rows = (torch.empty_like(self._mean) for _ in range(4))
        self._factor, self._shift, self._scale, self._along = rows

    def keeps(self, x: Node) -> bool:
        return True

    def forward(self, do: Program) -> None:
        x = self.inputs[0].head
        if not self.tape.training:
            do(self._fold)
            do(torch.addcmul, self._shift, x, self._scale, out=self.head)
            return
        add_products(do, x, x, self._factor)
        do(self._measure)
        do(torch.addcmul, self.bias.row, x, self._scale, out=self.head)

    def _fold(self) -> None:
        torch.add(self._variance, self._module.eps, out=self._scale)
        self._scale.rsqrt_().mul_(self.weight.row)
        torch.addcmul(self.bias.row, self._mean, self._scale, value=-1, out=self._shift)

    def _measure(self) -> None:
        """Turn sums of squares into inverse deviations, and update the running variance."""
        n = self.count
        variance = self._factor.div_(n)
        self._variance.lerp_(variance * (n / (n - 1)), self._module.momentum)
        self._factor.add_(self._module.eps).rsqrt_()
        torch.mul(self._factor, self.weight.row, out=self._scale)

    def backward(self, do: Program) -> None:
        x, grad = self.inputs[0], self.gradient
        do(torch.sum, grad, dim=0, out=self._shift)
        add_products(do, grad, x.head, self._along)
        with self.bias.write_grad(do) as out:
            do(out.view(-1).copy_, self._shift)
        with self.weight.write_grad(do) as out:
            do(torch.mul, self._along, self._factor, out=out.view(-1))
        do(self._project)
        do(torch.addcmul, self._shift, grad, self._scale, out=grad)
        do(torch.addcmul, grad, x.head, self._along, out=grad)
        x.take_grad(do, self)

    def _project(self) -> None:
        """What the gradient loses: its mean, and its part along the centered features."""
        self._shift.mul_(self._scale).div_(-self.count)
        self._along.mul_(self._scale).mul_(self._factor.square()).div_(-self.count)


class RunningMean(Node):
    """An array minus its mean over nodes; the mean also updates a running mean.

    Only a :class:`BatchNorm` reads it, and the gradient from there has mean zero already.

    Args:
        x: features
        momentum: share of the new mean
        mean: running mean; shape: ``(k, width)``
        batches: number of means so far; shape: ``(k,)``
    """

    rowwise = False
    overwrites = True

    def __init__(self, x: Node, momentum: float, mean: Tensor, batches: Tensor) -> None:
        super().__init__(x.tape, [x], x.width)
        self._momentum, self._mean, self._batches = momentum, mean.view(-1), batches

    def forward(self, do: Program) -> None:
        x = self.inputs[0].head
        mean = do.scratch("mean", x.shape[1])
        do(torch.mean, x, 0, out=mean)
        do(torch.sub, x, mean, out=self.head)
        do(self._mean.lerp_, mean, self._momentum)
        do(self._batches.add_, 1)

    def backward(self, do: Program) -> None:
        self.inputs[0].take_grad(do, self)


def _affine(tape: Tape, x: Node, module: Any) -> Node:
    """The norm's own weight and bias, if it has both."""
    if module.weight is None or module.bias is None:
        return x
    weight = tape.workspace.weight
    return Scale(x, weight(module.weight), weight(module.bias))


def _batch_norm(tape: Tape, module: Any, x: Node) -> Node:
    inner = getattr(module, "module", module)  # PyTorch Geometric's norm wraps PyTorch's
    if not inner.affine or not inner.track_running_stats or inner.momentum is None:
        raise Unsupported("batch normalisation without weights or running moments")
    if x.tape.training and len(x) < 2:
        raise Unsupported("batch normalisation of a single node")
    weight, buffer = tape.workspace.weight, tape.workspace.buffer
    mean, variance = buffer(inner.running_mean), buffer(inner.running_var)
    if tape.training:
        x = RunningMean(x, inner.momentum, mean, buffer(inner.num_batches_tracked))
    return BatchNorm(x, inner, weight(inner.weight), weight(inner.bias), variance, mean)


def _slope(number: float, root: Tensor) -> Tensor:
    """``number / root``, but zero where the root is zero, as in autograd."""
    return (number / root).masked_fill_(root == 0, 0)


def _layer_norm(tape: Tape, module: Any, x: Node) -> Node:
    if len(getattr(module, "normalized_shape", (x.width,))) > 1:
        raise Unsupported("layer normalisation of more than the channels")
    if getattr(module, "mode", "node") == "graph":
        entries = len(x) * x.width

        def size(total: Tensor) -> tuple[Tensor, Tensor]:
            deviation = (total / entries).sqrt()
            return deviation + module.eps, _slope(0.5 / entries, deviation)

        return _affine(tape, Unit(Center(x, _RUN), _RUN, size), module)

    def deviation(total: Tensor) -> tuple[Tensor, Tensor]:
        root = (total / x.width + module.eps).sqrt()
        return root, 0.5 / x.width / root

    return _affine(tape, Unit(Center(x, _ROW), _ROW, deviation), module)


def _pair_norm(tape: Tape, module: Any, x: Node) -> Node:
    n, eps = len(x), module.eps
    centered = Center(x, _NODES)
    if module.scale_individually:

        def length(total: Tensor) -> tuple[Tensor, Tensor]:
            root = total.sqrt()
            return root + eps, _slope(0.5, root)

        return Unit(centered, _ROW, length, module.scale)

    def size(total: Tensor) -> tuple[Tensor, Tensor]:
        root = (total / n + eps).sqrt()
        return root, 0.5 / n / root

    return Unit(centered, _RUN, size, module.scale)


def _mean_subtraction_norm(tape: Tape, module: Any, x: Node) -> Node:
    return Center(x, _NODES)


#: How norms are recorded, by the names of their types.
_NORMS = {
    "BatchNorm1d": _batch_norm,
    "BatchNorm": _batch_norm,
    "LayerNorm": _layer_norm,
    "PairNorm": _pair_norm,
    "MeanSubtractionNorm": _mean_subtraction_norm,
}
_HOMES = ("torch.nn.modules.", "torch_geometric.nn.norm.")


def recorder_of_norm(module: Any) -> Callable[..., Node] | None:
    """How a norm of PyTorch or PyTorch Geometric is recorded, ``None`` for any other module.

    Names are compared, since importing PyTorch Geometric takes a second.
    """
    kind = type(module)
    return _NORMS.get(kind.__name__) if kind.__module__.startswith(_HOMES) else None
