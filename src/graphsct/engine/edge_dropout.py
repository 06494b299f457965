"""Edge dropout: operators that change from epoch to epoch and from run to run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.dropout import Masking
from graphsct.engine.neighbourhood import Rows
from graphsct.engine.operators import multiply_sparse
from graphsct.engine.program import Program, apart
from graphsct.engine.tape import Node, Tape
from graphsct.graph.kernels import reweigh
from graphsct.nn.convolution import LinearForm

__all__ = ["DropEdges", "PropagateDropped"]


class DropEdges(Node):
    """The operator of each run without some edges, which are drawn anew in each epoch.

    Args:
        tape: the tape
        masking: the rates of all runs
    """

    def __init__(self, tape: Tape, masking: Masking) -> None:
        super().__init__(tape, [], 1)
        self.masking = masking

    @property
    def words(self) -> list[int]:
        """How many random words the mask takes in each run."""
        return self.masking.words(self.tape.workspace.graph.num_edges)

    def allocate(self, do: Program) -> None:
        """One matrix per run, all of one pattern."""
        graph = self.tape.workspace.graph
        full = graph.matrix
        self._values = full.values().repeat(self.tape.k, 1)
        self.matrices = [
            torch.sparse_csr_tensor(
                full.crow_indices(),
                full.col_indices(),
                values,
                size=full.shape,
                check_invariants=False,
            )
            for values in self._values
        ]

    def release(self, do: Program) -> None:
        """Keep the matrices, which do not come from the arena."""

    def forward(self, do: Program) -> None:
        """Draw random numbers and compute the operators."""
        words = self.tape.noise.take(do)
        edges = self.tape.workspace.graph.num_edges
        kept = self._values.new_empty(self.tape.k, edges)
        lanes = torch.empty_like(kept)
        self.masking.numbers(do, words, lanes)
        self.masking.apply(do, torch.ones_like(kept), lanes, kept)
        do(self._reweigh, kept)

    def _reweigh(self, kept: Tensor) -> None:
        graph = self.tape.workspace.graph
        for values, own in zip(self._values, kept, strict=True):
            values.copy_(reweigh(graph.matrix, graph.entry_weights, graph.edge_numbers, own > 0))


class PropagateDropped(Node):
    r"""Propagation by an operator without some edges, :math:`(g \mathbf G' + u \mathbf I) \mathbf X
    + v \mathbf X^0`, at all rows.

    Args:
        x: the features X
        start: the initial features :math:`\mathbf X^0`, read if v is not 0
        form: the numbers g, u and v
        edges: the operators of all runs
    """

    rowwise = False

    def __init__(self, x: Node, start: Node | None, form: LinearForm, edges: DropEdges) -> None:
        inputs = [x, edges] if start is None or not form.initial else [x, edges, start]
        super().__init__(x.tape, inputs, x.width)
        self.form = form

    def needs(self, index: int) -> Rows | None:
        """Operators have no rows to choose from."""
        return None if index == 1 else Rows.ALL

    def folds_scale(self, x: Node) -> bool:
        return x is self.inputs[0] and x not in self.inputs[1:]

    def _propagate(self, do: Program, x: Tensor, out: Tensor, scale: float) -> None:
        """``out = scale (g G' + u I) x``, for each run with its own operator."""
        edges: Any = self.inputs[1]
        k, g, u = self.tape.k, self.form.propagated * scale, self.form.kept * scale
        if k == 1:
            multiply_sparse(do, edges.matrices[0], x, out, scale=g)
        else:
            own, product = (do.arena.take(self.count, self.width) for _ in range(2))
            for run, matrix in enumerate(edges.matrices):
                do(own.copy_, apart(x, k)[run])
                multiply_sparse(do, matrix, own, product, scale=g)
                do(apart(out, k)[run].copy_, product)
            for array in (own, product):
                do.arena.release(array)
        if u:
            do(out.add_, x, alpha=u)

    def forward(self, do: Program) -> None:
        x, _, *start = self.inputs
        self._propagate(do, x.head, self.head, x.scale)
        for node in start:
            do(self.head.add_, node.head, alpha=self.form.initial)

    def backward(self, do: Program) -> None:
        """The same products, as the operators are symmetric."""
        x, _, *start = self.inputs
        for node in start:
            node.add_grad(do, self.gradient, self.form.initial)
        with x.write_grad(do) as out:
            self._propagate(do, self.gradient, out, x.scale)
