"""The control by which every channel has exactly the wanted smoothness, for k runs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.program import Program
from graphsct.engine.tape import Node, Tape, Unsupported
from graphsct.engine.weights import Weight
from graphsct.nn.target import LARGEST

__all__ = ["target"]


class Shifted(Node):
    """Features whose output has the wanted smoothness.

    Args:
        z: the features
        control: of one run, for its settings
        logit: of the wanted smoothness, one per channel, if it is learned
    """

    rowwise = False
    overwrites = True
    keeps_output = True

    def __init__(self, z: Node, control: Any, logit: Weight | None) -> None:
        super().__init__(z.tape, [z], z.width)
        graph = self.tape.workspace.graph
        self._map = control.map(graph)
        self._logit, self._lower = logit, control.least(graph)
        shape = graph.num_components, self.tape.k * z.width
        self._target = self._lower.new_full(shape, control.target)
        self._of_target = torch.empty_like(self._target)

    def _work(self, do: Program) -> list[Tensor]:
        return [do.scratch(f"shift {number}", *self.head.shape) for number in range(3)]

    def forward(self, do: Program) -> None:
        if self._logit is not None:
            do(self._set_target, self._logit.row)
        do(self._map.forward, self.inputs[0].head, self._target, self.head, self._work(do))

    def _set_target(self, logit: Tensor) -> None:
        torch.addcmul(self._lower, LARGEST - self._lower, logit.sigmoid(), out=self._target)

    def backward(self, do: Program) -> None:
        with self.inputs[0].write_grad(do) as out:
            do(self._pull_back, out, self._work(do))
        if self._logit is not None:
            with self._logit.write_grad(do) as out:
                do(self._pull_back_target, self._logit.row, out)

    def _pull_back(self, out: Tensor, work: list[Tensor]) -> None:
        self._of_target.copy_(self._map.backward(self.head, self.gradient, out, work))

    def _pull_back_target(self, logit: Tensor, out: Tensor) -> None:
        share = logit.sigmoid()
        slope = share * (1 - share) * (self._of_target * (LARGEST - self._lower)).sum(0)
        out.copy_(slope.view_as(out))


def target(tape: Tape, module: Any, z: Node) -> Node:
    """Record a control of this kind and the features it is added to."""
    if module.weight is not None:
        raise Unsupported("a smoothness that is read from the features")
    return Shifted(z, module, None if module.logit is None else tape.workspace.weight(module.logit))
