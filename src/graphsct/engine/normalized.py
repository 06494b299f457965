"""The control that normalises the rough part of the features, for k runs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.elementwise import Entrywise
from graphsct.engine.program import Program, add_products
from graphsct.engine.tape import Node, Tape, Unsupported
from graphsct.engine.weights import Weight
from graphsct.nn.normalized import EPSILON, unit_eigenvectors

__all__ = ["normalized"]


class Rough(Node):
    r"""Features less their smooth part, :math:`\mathbf Z - \mathbf Q \mathbf Q^\top \mathbf Z`.

    This map is symmetric, so it also maps the gradient.

    Args:
        z: the features Z
    """

    rowwise = False
    overwrites = True

    def __init__(self, z: Node) -> None:
        super().__init__(z.tape, [z], z.width)

    def _subtract(self, do: Program, x: Tensor) -> None:
        eigenspace = self.tape.workspace.operators.eigenspace(None)
        coordinates = do.arena.take(self.tape.workspace.graph.num_components, x.shape[1])
        eigenspace.pool(do, x, coordinates, scale=-1.0)
        eigenspace.add(do, coordinates, x)
        do.arena.release(coordinates)

    def forward(self, do: Program) -> None:
        z = self.inputs[0]
        if self.out is not z.out:
            do(self.head.copy_, z.head)
        self._subtract(do, self.head)

    def backward(self, do: Program) -> None:
        self._subtract(do, self.gradient)
        self.inputs[0].take_grad(do, self)


class Stretch(Node):
    r"""Rough features scaled to a learned size and shifted along the eigenvectors: :math:`\gamma
    \mathbf R / \sqrt{\|\mathbf R\|^2 / n + \epsilon} + \beta \mathbf u`.

    Args:
        rough: the features R
        gamma: one number per channel
        beta: one number per channel
        eigenvectors: u; shape: ``(n, 1)``
    """

    rowwise = False

    def __init__(self, rough: Node, gamma: Weight, beta: Weight, eigenvectors: Tensor) -> None:
        super().__init__(rough.tape, [rough], rough.width)
        self.gamma, self.beta, self._eigenvectors = gamma, beta, eigenvectors
        self._factor, self._scale, self._along = (torch.empty_like(gamma.row) for _ in range(3))

    def keeps(self, x: Node) -> bool:
        return True

    def forward(self, do: Program) -> None:
        rough = self.inputs[0].head
        add_products(do, rough, rough, self._factor)
        do(self._measure)
        do(torch.mul, self._eigenvectors, self.beta.row, out=self.head)
        do(torch.addcmul, self.head, rough, self._scale, out=self.head)

    def _measure(self) -> None:
        """From sums of squares to inverse sizes."""
        self._factor.div_(self.count).add_(EPSILON).rsqrt_()
        torch.mul(self._factor, self.gamma.row, out=self._scale)

    def backward(self, do: Program) -> None:
        """The gradient shrinks in the direction of the rough features."""
        rough, grad = self.inputs[0], self.gradient
        add_products(do, grad, rough.head, self._along)
        with self.beta.write_grad(do) as out:
            do(torch.mm, self._eigenvectors.t(), grad, out=out.view(1, -1))
        with self.gamma.write_grad(do) as out:
            do(torch.mul, self._along, self._factor, out=out.view(-1))
        do(self._project)
        do(torch.mul, grad, self._scale, out=grad)
        do(torch.addcmul, grad, rough.head, self._along, out=grad)
        rough.take_grad(do, self)

    def _project(self) -> None:
        self._along.mul_(self._scale).mul_(self._factor.square()).div_(-self.count)


class LearnedMix(Entrywise):
    """Interpolation between two arrays by one weight per run, ``a + g (b - a)``.

    Args:
        a: an array
        b: another one
        share: g; shape: ``(k,)``
    """

    def __init__(self, a: Node, b: Node, share: Weight) -> None:
        super().__init__(a, b)
        self.share = share

    def keeps(self, x: Node) -> bool:
        """For the gradient of the weight."""
        return True

    def forward(self, do: Program) -> None:
        a, b = (self.runs(x.head) for x in self.inputs)
        do(torch.lerp, a, b, self.share.value.unsqueeze(1), out=self.runs(self.head))

    def backward(self, do: Program) -> None:
        (a, b), grad = self.inputs, self.runs(self.gradient)
        product, share = do.arena.take(*grad.shape), self.share.value.unsqueeze(1)
        do(torch.sub, self.runs(b.head), self.runs(a.head), out=product)
        do(product.mul_, grad)
        with self.share.write_grad(do) as out:
            do(torch.sum, product, dim=(0, 2), out=out)
        do(torch.mul, grad, share, out=product)
        part = product.view(self.gradient.shape)
        a.add_grad(do, self.gradient)
        a.add_grad(do, part, -1.0)
        b.add_grad(do, part)
        do.arena.release(product)


def normalized(tape: Tape, module: Any, z: Node) -> Node:
    """Record a control of this kind and the features it is added to."""
    if module.per_component:
        raise Unsupported("a scale for each component")
    weight, eigenvectors = tape.workspace.weight, unit_eigenvectors(tape.workspace.graph)
    out = Stretch(Rough(z), weight(module.gamma), weight(module.beta), eigenvectors)
    return out if module.mix is None else LearnedMix(z, out, weight(module.mix))
