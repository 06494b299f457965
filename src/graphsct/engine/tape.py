r"""A tape: the operations of a forward pass in order, which the backward pass runs in reverse.

An operation is a :class:`Node`. It knows how to compute its output from its inputs, and how to
turn the gradient of its output into gradients of its inputs (its vector-Jacobian product). That is
all; the tape decides which rows are computed, where arrays come from and go to, and in which order
gradients are accumulated.

Features of k runs stand side by side, ``(rows, k * width)``: one sparse product serves all runs,
and dense products are batched. Where a model has controls, arrays of features have m more rows
behind them, for the coordinates :math:`\mathbf Q^\top \mathbf X`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from graphsct.engine.neighbourhood import Rows
from graphsct.engine.program import Program
from graphsct.engine.workspace import Workspace

if TYPE_CHECKING:
    from graphsct.engine.dropout import Noise
    from graphsct.engine.products import Matrix

__all__ = ["FUNCTIONS", "Gather", "Node", "Tape", "Unsupported", "flatten"]

#: How calls of PyTorch's functions on nodes are recorded: ``recorder(tape, *args, **kwargs)``.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}


class Unsupported(Exception):  # noqa: N818, it is no error: autograd takes over
    """The tape cannot record a model; autograd trains it instead."""


class Node:
    """One operation, its output and the gradient of its output.

    Nodes take the place of tensors while a model's ``forward`` is recorded: functions of PyTorch
    in :data:`FUNCTIONS` accept them.

    Args:
        tape: the tape to record on
        inputs: the nodes it reads
        width: number of channels of one run
    """

    #: Whether each row of the output depends only on the same row of the inputs.
    rowwise = True
    #: Whether the output may be written over the first input.
    overwrites = False
    #: Whether the coordinates behind the output are part of it.
    behind = False
    #: Whether the backward pass multiplies by :attr:`grad_scale` and leaves the gradient as it is.
    folds_grad_scale = False
    #: Whether the output can be computed with ReLU applied to it, and whether it is.
    can_rectify = rectified = False
    #: Whether the gradient is zero already where ReLU's output is zero.
    grad_is_masked = False
    #: Whether an input gets no gradient where that input is zero.
    stops_at_zero = False
    #: Whether another node still reads the gradient, so that it must not be changed in place.
    borrows_grad = False
    #: Why no further node may read the output; empty if one may.
    unreadable = ""

    def __init__(self, tape: Tape, inputs: Sequence[Node], width: int) -> None:
        for x in inputs:
            if x.unreadable:
                raise Unsupported(x.unreadable)
        self.tape, self.inputs, self.width = tape, tuple(inputs), width
        of_components = bool(inputs) and all(x.rows is Rows.COMPONENTS for x in inputs)
        self.rows: Rows = Rows.COMPONENTS if of_components else Rows.ALL
        self.consumers: list[Node] = []
        #: A factor that the output still lacks; its readers multiply by it.
        self.scale = 1.0
        #: The same for the gradient.
        self.grad_scale = 1.0
        #: The node behind whose output this output is written; ``None`` for an array of its own.
        self.goes_behind: Node | None = None
        self.out: Any = None
        self.grad: Any = None
        tape.nodes.append(self)

    # What the tape asks

    @property
    def can_have_some(self) -> bool:
        """Whether the output can be computed at some rows only."""
        return self.rowwise

    def needs(self, index: int) -> Rows | None:
        """The rows of an input that this node is computed from, ``None`` if any will do."""
        if self.inputs[index].rows is Rows.COMPONENTS:
            return Rows.COMPONENTS
        return self.rows if self.rowwise else Rows.ALL

    def needs_behind(self, index: int) -> bool:
        """Whether the coordinates behind an input are read, too."""
        return False

    @property
    def keeps_output(self) -> bool:
        """Whether the backward pass reads the output."""
        return False

    def keeps(self, x: Node) -> bool:
        """Whether this node's backward pass reads the input ``x``."""
        return False

    def folds_scale(self, x: Node) -> bool:
        """Whether this node multiplies by the :attr:`scale` of the input ``x``."""
        return False

    def prepare(self) -> None:
        """Settle what depends on the consumers, before any array is taken."""

    @property
    def grad_mask(self) -> Tensor | None:
        """The gradient is passed on only where this mask is positive. Its only writer may apply
        the mask itself, and then sets :attr:`grad_is_masked`.
        """
        return None

    def forward(self, do: Program) -> None:
        """Add the calls that compute the output from the inputs."""

    def backward(self, do: Program) -> None:
        """Add the calls that pass the gradient on to the inputs."""

    # Arrays

    @property
    def count(self) -> int:
        """Number of rows, not counting coordinates."""
        return self.tape.neighbourhood.count(self.rows)

    @property
    def nodes(self) -> Tensor | None:
        """The nodes of the rows, ``None`` for all; shape: ``(rows,)``."""
        return self.tape.neighbourhood.nodes(self.rows)

    def _extent(self, array: Tensor) -> Tensor:
        return array[: self.count + self.tape.coordinates] if self.behind else array[: self.count]

    @property
    def value(self) -> Tensor:
        """The output, with its coordinates if they are part of it."""
        return self._extent(self.out)

    @property
    def head(self) -> Tensor:
        """The output without coordinates; shape: ``(rows, k * width)``."""
        out: Tensor = self.out[: self.count]
        return out

    @property
    def tail(self) -> Tensor:
        """Room for coordinates behind the output; shape: ``(m, k * width)``."""
        out: Tensor = self.out[self.count :]
        return out

    @property
    def gradient(self) -> Tensor:
        """Gradient of :attr:`value`."""
        return self._extent(self.grad)

    def runs(self, array: Tensor) -> Tensor:
        """An array of this node's width with an axis for the runs; shape: ``(rows, k, width)``."""
        return array.view(len(array), self.tape.k, self.width)

    def new_array(self, do: Program) -> Tensor:
        """An array that the output, or its gradient, fits into."""
        behind = 0 if self.rows is Rows.COMPONENTS else self.tape.coordinates
        return do.arena.take(self.count + behind, self.tape.k * self.width)

    def allocate(self, do: Program) -> None:
        """Give the output an array: that of the first input if it may be overwritten."""
        if self.goes_behind is not None:
            self.out = self.goes_behind.tail
        elif self.overwrites and self.inputs[0].may_be_overwritten:
            self.out = do.arena.share(self.inputs[0].out)
        else:
            self.out = self.new_array(do)

    @property
    def may_be_overwritten(self) -> bool:
        """Whether a single consumer reads the output, and no backward pass does."""
        return len(self.consumers) == 1 and not self.is_kept

    @property
    def is_kept(self) -> bool:
        """Whether the backward pass reads the output."""
        return self.tape.training and (
            self.keeps_output or any(consumer.keeps(self) for consumer in self.consumers)
        )

    def release(self, do: Program) -> None:
        """Give the output's array back."""
        if self.goes_behind is None:
            do.arena.release(self.out)

    # Gradients

    def open_grad(self, do: Program) -> bool:
        """Make room for the gradient; return whether the first write may overwrite the content."""
        self.grad = self.new_array(do)
        return True

    def write_grad(self, do: Program) -> AbstractContextManager[Tensor]:
        """Where to write a gradient of the output; it is added to any earlier gradient."""
        return self._writing(do)

    @contextmanager
    def _writing(self, do: Program) -> Iterator[Tensor]:
        if self.grad is None and self.open_grad(do):
            yield self.gradient
        else:
            array = do.arena.take(*self.gradient.shape)
            yield array
            do(self.gradient.add_, array)
            do.arena.release(array)

    def add_grad(self, do: Program, gradient: Tensor, scale: float = 1.0) -> None:
        """Add a gradient of the output times a number."""
        if self.grad is None and self.open_grad(do):
            do(torch.mul, gradient, scale, out=self.gradient)
        else:
            do(self.gradient.add_, gradient, alpha=scale)

    def take_grad(self, do: Program, node: Node, scale: float = 1.0) -> None:
        """Add a number times the gradient of a node, whose array may be taken over."""
        own_array = type(self).open_grad is Node.open_grad
        # The scale applies to the whole gradient, so no other gradient may be added.
        alone = len(self.consumers) == 1 and node.inputs.count(self) == 1
        folds = scale == 1 or (self.folds_grad_scale and alone)
        if self.grad is None and own_array and folds:
            self.grad, self.grad_scale = do.arena.share(node.grad), scale
        else:
            self.add_grad(do, node.gradient[: self.count], scale)

    def release_grad(self, do: Program) -> None:
        """Give the gradient's array back."""
        do.arena.release(self.grad)

    # Recording

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        recorder = FUNCTIONS.get(func)
        if recorder is None:
            raise Unsupported(f"{getattr(func, '__name__', func)} is not recorded")
        values = flatten([*args, *(kwargs or {}).values()])
        tape = next(value.tape for value in values if hasattr(value, "tape"))
        return recorder(tape, *args, **(kwargs or {}))

    def __add__(self, other: Any) -> Any:
        return FUNCTIONS[torch.add](self.tape, self, other)

    def __mul__(self, other: Any) -> Any:
        return FUNCTIONS[torch.mul](self.tape, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __len__(self) -> int:
        return self.count

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output of one run."""
        return self.count, self.width

    def dim(self) -> int:
        """Number of axes."""
        return 2


def flatten(values: Sequence[Any]) -> Iterator[Any]:
    """The values of nested lists and tuples."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from flatten(value)
        else:
            yield value


class Gather(Node):
    """Some of the rows at which a node is computed.

    Args:
        x: the node
        rows: the rows to take
        behind: also take the coordinates behind the node's rows
    """

    def __init__(self, x: Node, rows: Rows, *, behind: bool = False) -> None:
        super().__init__(x.tape, [], x.width)
        # Gathers are added after the recording, and may read nodes that are unreadable by then.
        self.inputs = (x,)
        self.rows, self.behind = rows, behind
        coordinates = torch.arange(x.count, x.count + (x.tape.coordinates if behind else 0))
        there, wanted = x.nodes, self.nodes
        assert wanted is not None  # fewer than all
        index = wanted if there is None else torch.searchsorted(there, wanted)
        self._index = torch.cat([index, coordinates])

    def needs(self, index: int) -> Rows:
        """All rows of the input."""
        return self.inputs[0].rows

    def forward(self, do: Program) -> None:
        do(torch.index_select, self.inputs[0].out, 0, self._index, out=self.value)

    def open_grad(self, do: Program) -> bool:
        """Open the gradient of the input, whose rows are written directly."""
        x: Any = self.inputs[0]
        fresh = x.grad is None and x.open_grad(do)
        if fresh:
            do(x.grad.zero_)
        return False

    @contextmanager
    def _writing(self, do: Program) -> Iterator[Tensor]:
        array = do.arena.take(*self.value.shape)
        yield array
        self.add_grad(do, array)
        do.arena.release(array)

    def add_grad(self, do: Program, gradient: Tensor, scale: float = 1.0) -> None:
        """Add to the rows of the input's gradient."""
        self.open_grad(do)
        index = self._index[: len(gradient)]
        do(self.inputs[0].grad.index_add_, 0, index, gradient, alpha=scale)


class Tape:
    """The operations of one forward pass of k runs.

    Args:
        workspace: the operators of the graph, and the weights
        some: nodes whose labels are looked at; shape: ``(r,)``
        models: the models that are recorded together
        training: whether there will be a backward pass
        late: numbers of the convolutions that propagate after their dense product
    """

    #: The last node.
    root: Node
    #: Random numbers of dropout.
    noise: Noise
    #: Index of the drawn random row of each node, ``None`` if in order: for dropout at all nodes,
    #: ``(n,)``, and for dropout before the output, separately for each run, ``(k, r)``.
    orders: tuple[Tensor | None, Tensor | None] = None, None

    def __init__(
        self,
        workspace: Workspace,
        some: Tensor,
        *,
        models: Sequence[Any],
        training: bool,
        late: Collection[int] = (),
    ) -> None:
        self.workspace, self.some, self.models = workspace, some, models
        self.training, self.late = training, late
        self.k, self.coordinates = workspace.weights.runs, workspace.coordinates
        self.nodes: list[Node] = []
        #: The matrices V of the convolutions.
        self.matrices: list[Matrix] = []
        #: Ids of the arrays in which coordinates stand behind the features.
        self.occupied: set[int] = set()
        #: The nodes that the scores of ``some`` depend on.
        self.neighbourhood = workspace.operators.neighbourhood(some)

    def insert_after(self, x: Node) -> None:
        """Move the node that was recorded last to directly behind another one."""
        self.nodes.insert(self.nodes.index(x) + 1, self.nodes.pop())

    def plan(self) -> None:
        """Drop what the root does not depend on, and decide which rows are computed."""
        used: set[Node] = {self.root}
        for node in reversed(self.nodes):
            if node in used:
                used.update(node.inputs)
        self.nodes = [node for node in self.nodes if node in used]
        self._choose_rows()
        self._gather_rows()
        for node in self.nodes:
            node.consumers = []
        for node in self.nodes:
            for x in dict.fromkeys(node.inputs):
                x.consumers.append(node)

    def _choose_rows(self) -> None:
        """From the last node to the first, restrict nodes to the rows that their consumers need."""
        wanted: dict[Node, set[Rows]] = {self.root: {Rows.SOME}}
        for node in reversed(self.nodes):
            if node.rows is Rows.ALL and wanted[node] and node.can_have_some:
                node.rows = self.neighbourhood.settle(max(wanted[node]))
            for index, x in enumerate(node.inputs):
                rows = node.needs(index)
                wanted.setdefault(x, set()).update([] if rows is None else [rows])

    def _gather_rows(self) -> None:
        """Put a :class:`Gather` between a node and the consumers that need fewer of its rows."""
        gathered: dict[tuple[Node, Rows, bool], Node] = {}
        for node in list(self.nodes):
            inputs = list(node.inputs)
            for index, x in enumerate(node.inputs):
                rows = node.needs(index)
                if rows is not None and rows < x.rows < Rows.COMPONENTS:
                    key = x, rows, node.needs_behind(index)
                    if key not in gathered:
                        gathered[key] = Gather(x, rows, behind=key[2])
                        self.nodes.insert(self.nodes.index(node), self.nodes.pop())
                    inputs[index] = gathered[key]
            node.inputs = tuple(inputs)

    def end_with(self, node: Node) -> None:
        """Make the node that was recorded last the root, and plan."""
        self.root = node
        self.plan()

    def emit(self, do: Program) -> None:
        """Add the calls of the forward pass, and in training those of the backward pass."""
        self.emit_forward(do)
        if self.training:
            self.emit_backward(do)

    def emit_forward(self, do: Program) -> None:
        """Add the calls of the forward pass."""
        for node in self.nodes:
            node.prepare()
        left = {node: len(node.consumers) for node in self.nodes}
        for node in self.nodes:
            node.allocate(do)
            node.forward(do)
            for x in dict.fromkeys(node.inputs):
                left[x] -= 1
                if not left[x] and not x.is_kept:
                    x.release(do)

    def emit_backward(self, do: Program) -> None:
        """Add the calls of the backward pass: the tape read from its end."""
        for node in reversed(self.nodes):
            node.backward(do)
            if node.grad is not None:
                node.release_grad(do)
            if node.is_kept:
                node.release(do)
