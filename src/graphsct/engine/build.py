"""Recording a model: its ``forward`` runs once on nodes instead of tensors.

Modules in :data:`MODULES`, norms, and convolutions with a ``linear_form`` are recorded as a whole.
All other modules run as they are, and the functions of PyTorch that they call are recorded by
:data:`~graphsct.engine.tape.FUNCTIONS`. Anything else raises
:class:`~graphsct.engine.tape.Unsupported`, and autograd trains the model.
"""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.dropout import Dropout, Masking
from graphsct.engine.edge_dropout import DropEdges, PropagateDropped
from graphsct.engine.elementwise import Concatenation, Largest
from graphsct.engine.input_layer import Data, Features
from graphsct.engine.normalized import normalized
from graphsct.engine.norms import recorder_of_norm
from graphsct.engine.products import Bias, Matrix, Multiply, linear
from graphsct.engine.propagation import (
    AddUnpooled,
    Coordinates,
    Pool,
    PoolLate,
    Propagate,
    PropagateLate,
    Tail,
)
from graphsct.engine.tape import FUNCTIONS, Node, Tape, Unsupported
from graphsct.engine.target import target
from graphsct.engine.workspace import Workspace
from graphsct.graph import Graph
from graphsct.nn.controls import CONTROLS
from graphsct.nn.convolution import Convolution, LinearForm
from graphsct.nn.dropout import drop_edges
from graphsct.nn.jumping import Jumping
from graphsct.nn.linear import Linear, dropout

__all__ = ["DIFFERING", "MODULES", "late_convolutions", "record"]

#: Attributes in which models that are recorded together may differ: rates of dropout.
DIFFERING = ("dropout", "conv_dropout")

#: How modules are recorded, by their types: ``recorder(tape, module, *args, **kwargs)``.
MODULES: dict[type, Callable[..., Any]] = {
    torch.nn.Identity: lambda tape, module, x: x,
    Linear: lambda tape, module, x: linear(tape, x, module.weight, module.bias),
    Jumping: lambda tape, module, layers: _JUMPS[module.mode](layers),
}
_JUMPS: dict[str, type[Concatenation | Largest]] = {"cat": Concatenation, "max": Largest}


class _Recorder(torch.nn.Module):
    """Takes the place of a module while a model is recorded."""

    def __init__(self, tape: Tape, module: torch.nn.Module, recorder: Callable[..., Any]) -> None:
        super().__init__()
        object.__setattr__(self, "call", lambda *args, **kw: recorder(tape, module, *args, **kw))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Record."""
        call: Any = self.call
        return call(*args, **kwargs)


def _stand_in(tape: Tape, module: torch.nn.Module) -> torch.nn.Module:
    """A recorder, if the module is known; else a copy whose parts are replaced in the same way."""
    recorder = MODULES.get(type(module)) or recorder_of_norm(module)
    if isinstance(module, Convolution) and module.linear_form() is not None:
        recorder = _convolution
    if recorder is not None:
        return _Recorder(tape, module, recorder)
    clone = copy.copy(module)
    clone.training = tape.training
    clone._modules = {
        name: None if part is None else _stand_in(tape, part)
        for name, part in module._modules.items()
    }
    return clone


class _TracedGraph(Graph):
    """A graph whose methods take nodes, perhaps without some edges."""

    __torch_function__ = Node.__torch_function__

    def __init__(self, graph: Graph, tape: Tape, dropped: DropEdges | None = None) -> None:
        self.__dict__.update(graph.__dict__)
        self.tape, self.dropped = tape, dropped
        self._coordinates: dict[Any, Coordinates] = {}

    def propagate(self, x: Any) -> Any:
        """Record a product with the operator."""
        form = LinearForm(torch.empty(0))
        if self.dropped is not None:
            return PropagateDropped(x, None, form, self.dropped)
        return Propagate(x, None, form, behind=False)

    def pool(self, x: Any) -> Any:
        """Record the coordinates of features."""
        return Tail(self.coordinates(x)) if self.tape.coordinates else Pool(x)

    def unpool(self, a: Any) -> Any:
        """Refuse, as only a control turns coordinates into features."""
        raise Unsupported("coordinates become features in a control alone")

    def coordinates(self, x: Node) -> Coordinates:
        """The features with coordinates behind them, recorded directly after the features."""
        if x not in self._coordinates:
            self._coordinates[x] = Coordinates(x)
            self.tape.insert_after(x)
        return self._coordinates[x]


@cache
def _signature(forward: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(forward)


def _convolution(tape: Tape, conv: Any, *args: Any, **kwargs: Any) -> Node:
    """Record a convolution by its linear form, and its control."""
    control = getattr(conv, "control", None)
    if control is None or control.in_eigenspace:
        return _linear(tape, conv, control, *args, **kwargs)
    recorder = _OUTSIDE.get(type(control.coefficients))
    if recorder is None:
        raise Unsupported(f"control {control.kind!r}")
    return recorder(tape, control.coefficients, _linear(tape, conv, None, *args, **kwargs))


def _linear(tape: Tape, conv: Any, control: Any, *args: Any, **kwargs: Any) -> Node:
    """Record a convolution with a control in the eigenspace, or none."""
    given = _signature(type(conv).forward).bind(conv, *args, **kwargs).arguments
    x, graph, x_0 = given["x"], given["edge_index"], given.get("x_0")
    form, pooled_0 = conv.linear_form(), given.get("pooled_0")
    if isinstance(x, Data) or not isinstance(graph, _TracedGraph):
        raise Unsupported("a convolution of the data, or on another graph")
    matrix = Matrix(tape.workspace.weight(form.weight), form.identity, form.weight_scale)
    tape.matrices.append(matrix)
    coefficients = None
    if control is not None:
        coefficients = _stand_in(tape, control.coefficients)
        if control.needs_initial and pooled_0 is None:
            pooled_0 = graph.pool(x_0)
    if graph.dropped is not None:
        z = _add_bias(tape, form.bias, _propagate_dropped(x, x_0, form, matrix, graph.dropped))
        return z if coefficients is None else AddUnpooled(z, coefficients(Pool(z), pooled_0))
    if len(tape.matrices) in tape.late:
        t = Multiply(x, matrix)
        if coefficients is None:
            return _add_bias(tape, form.bias, PropagateLate(t))
        pooled = PoolLate(t)
        return PropagateLate(t, pooled, coefficients(pooled, pooled_0))
    start: Any = x_0
    if control is not None and form.initial:
        start = graph.coordinates(start)
    c = Propagate(x, start, form, behind=control is not None)
    c.number = len(tape.matrices)
    z = _add_bias(tape, form.bias, Multiply(c, matrix))
    return z if coefficients is None else AddUnpooled(z, coefficients(Tail(z), pooled_0))


def _propagate_dropped(
    x: Node, x_0: Node | None, form: LinearForm, matrix: Matrix, edges: DropEdges
) -> Node:
    if form.initial or form.identity:
        return Multiply(PropagateDropped(x, x_0, form, edges), matrix)
    return PropagateDropped(Multiply(x, matrix), None, form, edges)


def _add_bias(tape: Tape, bias: Tensor | None, z: Node) -> Node:
    if bias is None:
        return z
    graph = tape.workspace.graph
    column = graph.pool(torch.ones(graph.num_nodes, 1, dtype=graph.dtype)).squeeze(1)
    return Bias(z, tape.workspace.weight(bias), column)


#: How controls outside the eigenspace are recorded: ``recorder(tape, control, features)``.
_OUTSIDE: dict[type, Callable[[Tape, Any, Node], Node]] = {
    CONTROLS["bias"]: lambda tape, control, z: _add_bias(tape, control.bias, z),
    CONTROLS["normalized"]: normalized,
    CONTROLS["target"]: target,
}


class _Rate(float):
    """A rate of dropout in which models may differ, and the name of its attribute."""

    name: str


def _name_rates(model: torch.nn.Module) -> None:
    """Attach their names to a model's rates of dropout."""
    for name in DIFFERING:
        value = vars(model).get(name)
        if isinstance(value, float):
            rate = _Rate(value)
            rate.name = name
            setattr(model, name, rate)


def _masking(tape: Tape, p: float) -> Masking:
    name = getattr(p, "name", None)
    return Masking([p if name is None else getattr(model, name) for model in tape.models])


def _dropout(tape: Tape, x: Any, p: float, training: bool, *, kind: str = "nodes") -> Node:
    masking, at_output = _masking(tape, p), kind == "output"
    return x.drop(masking) if isinstance(x, Data) else Dropout(x, masking, at_output=at_output)


def _drop_edges(tape: Tape, graph: Any, p: float, training: bool) -> Graph:
    if graph.dropped is not None:
        raise Unsupported("edge dropout of a graph that has lost edges already")
    return _TracedGraph(tape.workspace.graph, tape, DropEdges(tape, _masking(tape, p)))


FUNCTIONS |= {dropout: _dropout, drop_edges: _drop_edges}


@contextmanager
def _no_random_numbers() -> Iterator[None]:
    """Refuse a forward pass that draws random numbers itself: each epoch would reuse them.

    The generators of PyTorch and Python are left as they were.
    """
    torch_state, state = torch.get_rng_state(), random.getstate()
    try:
        yield
        if not torch.equal(torch.get_rng_state(), torch_state) or random.getstate() != state:
            raise Unsupported("random numbers that the forward pass draws itself")
    finally:
        torch.set_rng_state(torch_state)
        random.setstate(state)


def record(
    models: Sequence[Any],
    workspace: Workspace,
    features: Features,
    rows: Tensor,
    *,
    training: bool,
    late: Collection[int] = (),
) -> Tape:
    """Record the forward pass of k models of one shape, up to their scores.

    Args:
        models: the first is recorded; the others may differ from it in :data:`DIFFERING`
        workspace: the operators and the weights
        features: the data
        rows: nodes whose scores are needed; shape: ``(r,)``
        training: record dropout, and prepare for a backward pass
        late: numbers, from 1, of the convolutions that propagate after their dense product

    Raises:
        Unsupported: if something in the model cannot be recorded
    """
    tape, model = Tape(workspace, rows, models=models, training=training, late=late), models[0]
    graph, stand_in = _TracedGraph(workspace.graph, tape), _stand_in(tape, model)
    _name_rates(stand_in)
    with _no_random_numbers():
        scores = stand_in(Data(tape, features), graph)
    if not isinstance(scores, Multiply) or scores.matrix.is_mixed or scores.behind:
        raise Unsupported("scores that are not those of a linear layer")
    unused = {name for name, _ in model.named_parameters()} - workspace.used.keys()
    if unused:
        raise Unsupported(f"{', '.join(sorted(unused))}: not used by the forward pass")
    tape.root = scores
    return tape


def late_convolutions(tape: Tape) -> frozenset[int]:
    """Numbers of the convolutions that are best computed as :class:`PropagateLate`.

    These compute whole components and are plain, ``G X W``; a bias may be added if there is no
    control.
    """
    tape.plan()
    return frozenset(
        node.number
        for node in tape.nodes
        if isinstance(node, Propagate) and node.number and node.can_be_late
    )
