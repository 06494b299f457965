r"""Sparse products: propagation, and the way into the eigenspace and back.

A convolution with control is, with :math:`\mathbf M = g \mathbf G + u \mathbf I`,

.. math::
    \mathbf C = \mathbf M \mathbf X + v \mathbf X^0, \qquad
    \mathbf Z = \mathbf C \mathbf V + \mathbf Q \mathbf A(\mathbf Q^\top \mathbf C \mathbf V)

As :math:`\mathbf Q^\top \mathbf G = \mathbf Q^\top`, coordinates need no propagated features:
:math:`\mathbf Q^\top \mathbf C = (g + u) \mathbf Q^\top \mathbf X + v \mathbf Q^\top \mathbf X^0`.
So the coordinates stand behind the features, as m more rows: one product with :math:`\mathbf V`
serves both, and so does one sparse product with :math:`[\mathbf M \; (g + u) \mathbf Q]` in the
backward pass.
"""

from __future__ import annotations

from typing import Any

from graphsct.engine.neighbourhood import Rows
from graphsct.engine.operators import Eigenspace, Operators, multiply_sparse
from graphsct.engine.program import Program
from graphsct.engine.tape import Node
from graphsct.nn.convolution import LinearForm

__all__ = ["AddUnpooled", "Coordinates", "Pool", "PoolLate", "Propagate", "PropagateLate", "Tail"]


def _eigenspace(node: Node) -> Eigenspace:
    """The basis at the rows of a node."""
    return node.tape.workspace.operators.eigenspace(node.nodes)


class Propagate(Node):
    r"""Propagation before the dense product, :math:`\mathbf C = \mathbf M \mathbf X + v \mathbf
    X^0`, at the rows that are needed.

    Args:
        x: the features X
        start: the initial features :math:`\mathbf X^0`, read if v is not 0
        form: the numbers g, u and v
        behind: also compute the coordinates
    """

    rowwise = False
    #: Number of the convolution from 1, 0 if it is none.
    number = 0

    def __init__(self, x: Node, start: Node | None, form: LinearForm, *, behind: bool) -> None:
        inputs = [x, start] if form.initial and start is not None else [x]
        super().__init__(x.tape, inputs, x.width)
        self.form, self.behind = form, behind

    @property
    def can_have_some(self) -> bool:
        """The operator can be reduced to some rows."""
        return True

    def needs(self, index: int) -> Rows:
        """Features of all neighbours, or of all nodes; but initial features of the same rows."""
        if index:
            return self.rows
        return Rows.ALL if self.behind else self.tape.neighbourhood.around(self.rows)

    def needs_behind(self, index: int) -> bool:
        """The coordinates of the initial features."""
        return bool(index) and self.behind

    def folds_scale(self, x: Node) -> bool:
        return x is self.inputs[0] and x not in self.inputs[1:]

    @property
    def can_be_late(self) -> bool:
        """Whether :class:`PropagateLate` can take its place."""
        pure = self.form._replace(bias=None) == LinearForm(self.form.weight)
        closed = self.needs(0) is self.rows
        return pure and closed and not (self.behind and self.form.bias is not None)

    @property
    def _operators(self) -> Operators:
        form, columns = self.form, self.tape.neighbourhood.nodes(self.needs(0))
        return self.tape.workspace.operators.operators(
            self.nodes, columns, propagated=form.propagated, kept=form.kept, control=self.behind
        )

    def forward(self, do: Program) -> None:
        """One sparse product, and one for the coordinates."""
        x, *start = self.inputs
        v = self.form.initial if start else 0
        first = start[0].head if start else self.head
        multiply_sparse(
            do, self._operators.forward, x.head, self.head, scale=x.scale, start=first, v=v
        )
        if self.behind:
            scale = (self.form.propagated + self.form.kept) * x.scale
            before = start[0].tail if start else None
            everywhere = self.tape.workspace.operators.eigenspace(None)
            everywhere.pool(do, x.head, self.tail, scale=scale, start=before, v=v)

    def backward(self, do: Program) -> None:
        x, *start = self.inputs
        for node in start:
            node.add_grad(do, self.gradient, self.form.initial)
        back = self._operators.backward
        with x.write_grad(do) as out:
            multiply_sparse(do, back, self.gradient, out, scale=x.scale)


class PropagateLate(Node):
    r"""Propagation after the dense product, :math:`\mathbf G \mathbf T + \mathbf Q \mathbf A` with
    :math:`\mathbf T = \mathbf X \mathbf W`.

    In this order only X has to be kept, and one sparse product, with :math:`[\mathbf G \; \mathbf
    Q]`, serves the convolution and the control, forward and backward.

    Args:
        t: the features T
        pooled: the coordinates of T, if there is a control
        a: the coefficients A of the control
    """

    rowwise = False
    can_rectify = True

    def __init__(self, t: Node, pooled: PoolLate | None = None, a: Node | None = None) -> None:
        super().__init__(t.tape, [t] if a is None else [t, a], t.width)
        self._pooled = pooled

    @property
    def can_have_some(self) -> bool:
        """Unless there is a control, which needs all rows."""
        return len(self.inputs) == 1

    def needs(self, index: int) -> Rows | None:
        """Features of all neighbours."""
        return super().needs(index) if index else self.tape.neighbourhood.around(self.rows)

    def prepare(self) -> None:
        """Let the coefficients be written behind T, where the product reads them."""
        t, *a = self.inputs
        if self._pooled is not None and not self._pooled.consumers:
            self._pooled = None  # the control reads other coordinates
        self._written_behind = bool(a) and a[0].may_be_overwritten and not a[0].overwrites
        if self._written_behind:
            a[0].goes_behind = t

    def _operators(self, *, control: bool) -> Operators:
        columns = self.tape.neighbourhood.nodes(self.tape.neighbourhood.around(self.rows))
        return self.tape.workspace.operators.operators(self.nodes, columns, control=control)

    def forward(self, do: Program) -> None:
        t, *a = self.inputs
        if a and not self._written_behind:
            do(t.tail.copy_, a[0].value)
        whole = t.out if a else t.head
        operators = self._operators(control=bool(a))
        matrix = operators.backward if a else operators.forward
        multiply_sparse(do, matrix, whole, self.head, rectify=self.rectified)

    def backward(self, do: Program) -> None:
        """One sparse product, which is left to :class:`PoolLate` if there is one."""
        t, *a = self.inputs
        if self._pooled is not None:
            self._pooled.grad_of_whole = do.arena.share(self.grad)
        else:
            with t.write_grad(do) as out:
                matrix = self._operators(control=False).backward
                multiply_sparse(do, matrix, self.gradient, out)
        for node in a:
            with node.write_grad(do) as out:
                _eigenspace(self).pool(do, self.gradient, out)


class Pool(Node):
    r"""Coordinates of features, :math:`\mathbf Q^\top \mathbf X`."""

    rowwise = False

    def __init__(self, x: Node) -> None:
        super().__init__(x.tape, [x], x.width)
        self.rows = Rows.COMPONENTS

    def forward(self, do: Program) -> None:
        _eigenspace(self.inputs[0]).pool(do, self.inputs[0].head, self.out)

    def backward(self, do: Program) -> None:
        x = self.inputs[0]
        if x.grad is None and x.open_grad(do):
            do(x.gradient.zero_)
        _eigenspace(x).add(do, self.gradient, x.grad[: x.count])


class PoolLate(Pool):
    """The coordinates of T for :class:`PropagateLate`; one array holds both gradients.

    Args:
        t: the features T
    """

    grad_of_whole: Any = None

    def open_grad(self, do: Program) -> bool:
        """Place the gradient behind the gradient of the propagated features."""
        self.grad = self.grad_of_whole[self.inputs[0].count :]
        return True

    def backward(self, do: Program) -> None:
        """One sparse product for the gradients of features and coordinates."""
        matrix = self.tape.workspace.operators.operators(None, control=True).backward
        with self.inputs[0].write_grad(do) as out:
            multiply_sparse(do, matrix, self.grad_of_whole, out)

    def release_grad(self, do: Program) -> None:
        """Release the array that both gradients share."""
        do.arena.release(self.grad_of_whole)


class Coordinates(Node):
    r"""Features with their coordinates :math:`\mathbf Q^\top \mathbf X` behind them.

    They share the features' array and its gradient where the room behind is free.

    Args:
        x: the features
    """

    rowwise = False
    behind = True

    def __init__(self, x: Node) -> None:
        super().__init__(x.tape, [x], x.width)
        self._shares = False

    def allocate(self, do: Program) -> None:
        """Share the features' array if nothing stands behind them."""
        x = self.inputs[0]
        self._shares = id(x.out) not in self.tape.occupied
        self.out = do.arena.share(x.out) if self._shares else self.new_array(do)
        self.tape.occupied.add(id(self.out))

    def keeps(self, x: Node) -> bool:
        """If the coordinates are kept: they may share the features' array."""
        return self.is_kept

    def forward(self, do: Program) -> None:
        x = self.inputs[0]
        if not self._shares:
            do(self.head.copy_, x.head)
        _eigenspace(self).pool(do, self.head, self.tail)

    def open_grad(self, do: Program) -> bool:
        """Share the gradient's array, too, if possible, and set unwritten rows to zero."""
        x: Any = self.inputs[0]
        if not self._shares:
            self.grad = self.new_array(do)
            do(self.grad.zero_)
            return False
        fresh = x.grad is None and x.open_grad(do)
        self.grad = do.arena.share(x.grad)
        do((self.grad if fresh else self.grad[self.count :]).zero_)
        return False

    def backward(self, do: Program) -> None:
        x = self.inputs[0]
        if not self._shares:
            x.add_grad(do, self.grad[: self.count])
        _eigenspace(self).add(do, self.grad[self.count :], x.grad[: self.count])


class Tail(Node):
    """The coordinates behind some features.

    Args:
        x: the features
    """

    rowwise = False

    def __init__(self, x: Node) -> None:
        super().__init__(x.tape, [x], x.width)
        self.rows = Rows.COMPONENTS

    def keeps(self, x: Node) -> bool:
        return self.is_kept

    def needs(self, index: int) -> Rows | None:
        """Any rows will do: the coordinates stand behind every choice of rows."""
        return None

    @property
    def may_be_overwritten(self) -> bool:
        """Never, as they are part of the features' array."""
        return False

    def allocate(self, do: Program) -> None:
        self._whole = do.arena.share(self.inputs[0].out)
        self.tape.occupied.add(id(self._whole))
        self.out = self.inputs[0].tail

    def release(self, do: Program) -> None:
        do.arena.release(self._whole)

    def open_grad(self, do: Program) -> bool:
        """Place the gradient behind the gradient of the features."""
        x = self.inputs[0]
        fresh = x.open_grad(do) if x.grad is None else not isinstance(x, Coordinates)
        self.grad = x.grad[x.count :]
        return fresh

    def release_grad(self, do: Program) -> None:
        """The array belongs to the features."""


class AddUnpooled(Node):
    r"""The control added in place, :math:`\mathbf Z + \mathbf Q \mathbf A`.

    Args:
        z: the features Z
        a: the coefficients A
    """

    def __init__(self, z: Node, a: Node) -> None:
        super().__init__(z.tape, [z, a], z.width)

    def allocate(self, do: Program) -> None:
        self.out = do.arena.share(self.inputs[0].out)

    def forward(self, do: Program) -> None:
        _eigenspace(self).add(do, self.inputs[1].value, self.head)

    def backward(self, do: Program) -> None:
        z, a = self.inputs
        z.take_grad(do, self)
        if z.behind and not any(isinstance(consumer, Tail) for consumer in z.consumers):
            do(z.grad[z.count :].zero_)  # the control reads other coordinates
        with a.write_grad(do) as out:
            _eigenspace(self).pool(do, self.gradient, out)
