"""The layers of a model, found among its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.names import nearest
from graphsct.nn.checks import check_module
from graphsct.nn.convolution import Convolution
from graphsct.nn.wrap import ControlledConv

__all__ = ["find_features", "find_layers", "has_matrix", "named_layers"]


def find_features(value: Any, num_nodes: int) -> Tensor | None:
    """The first dense float matrix with one row per node among the inputs or outputs of a part."""
    if isinstance(value, Tensor):
        rows = value.dim() == 2 and len(value) == num_nodes and value.layout == torch.strided
        return value if rows and value.is_floating_point() else None
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        found = (find_features(part, num_nodes) for part in value)
        return next((part for part in found if part is not None), None)
    return None


def has_matrix(part: torch.nn.Module) -> bool:
    """Whether a part has a matrix of weights of its own, as linear maps do and norms do not."""
    return any(weight.dim() == 2 for weight in part.parameters(recurse=False))


class _Seen(NamedTuple):
    """A part of a model that returned features, and whether it took edges."""

    name: str
    part: torch.nn.Module
    edges: bool


def find_layers(
    model: torch.nn.Module,
    run: Callable[[], Any],
    num_nodes: int,
    names: Sequence[str] | None = None,
) -> list[str]:
    """The names of the layers of a model, in the order of its parts.

    A layer is a part that returns a float matrix with one row per node, and that is

    1. a convolution: a ``MessagePassing`` of PyTorch Geometric or one of :mod:`graphsct.nn`
       (with its control, if it has one);
    2. if there is none, a part that takes edges (an integer tensor ``(2, e)``, a sparse or square
       matrix or a :class:`~graphsct.Graph`) and contains no such part;
    3. if there is none either, a part with a matrix of weights of its own.

    Args:
        model: any model
        run: function that runs it once
        num_nodes: number of nodes of the graph
        names: names of the layers, instead of the rule; a ``ModuleList`` stands for its parts
    """
    check_module(model)
    if names is not None:
        return named_layers(model, names)
    seen = _scout(model, run, num_nodes)
    layers = _outermost([name for name, part, _ in seen if _is_convolution(part)])
    if not layers:
        layers = _innermost([name for name, _, edges in seen if edges])
    if not layers:
        layers = [name for name, part, _ in seen if has_matrix(part)]
    if not layers:
        raise ModelError(
            f"no part of {type(model).__name__} returns features of shape ({num_nodes}, d); name "
            f"its layers: layers=[...] out of {', '.join(_names(model)) or 'no parts at all'}"
        )
    return layers


def _is_convolution(part: torch.nn.Module) -> bool:
    from torch_geometric.nn import MessagePassing  # takes a second

    return isinstance(part, MessagePassing | Convolution | ControlledConv)


def _scout(model: torch.nn.Module, run: Callable[[], Any], num_nodes: int) -> list[_Seen]:
    """Run the model once and record the parts that return features."""
    seen: dict[str, _Seen] = {}

    def look(name: str) -> Any:
        def hook(part: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            if find_features(output, num_nodes) is not None:
                taken = (*args, *kwargs.values())
                edges = any(_is_graph(value, num_nodes) for value in taken)
                seen[name] = _Seen(name, part, edges)

        return hook

    parts = {name: part for name, part in model.named_modules() if name}
    hooks = [
        part.register_forward_hook(look(name), with_kwargs=True) for name, part in parts.items()
    ]
    try:
        with torch.no_grad():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return [seen[name] for name in parts if name in seen]


def _is_graph(value: Any, num_nodes: int) -> bool:
    if isinstance(value, Graph):
        return True
    if not isinstance(value, Tensor) or value.dim() != 2:
        return False
    if value.is_floating_point():
        return tuple(value.shape) == (num_nodes, num_nodes)
    return value.shape[0] == 2


def _outermost(names: list[str]) -> list[str]:
    return [name for name in names if not any(name.startswith(f"{other}.") for other in names)]


def _innermost(names: list[str]) -> list[str]:
    return [name for name in names if not any(other.startswith(f"{name}.") for other in names)]


def named_layers(model: torch.nn.Module, names: Iterable[str]) -> list[str]:
    """The layers with these names, or an error; a ``ModuleList`` stands for its parts."""
    parts = dict(check_module(model).named_modules())
    found: list[str] = []
    given: Any = [names] if isinstance(names, str) else names
    if not isinstance(given, Iterable) or not (given := list(given)):
        raise ModelError(f"layers is {names!r}, expected names{nearest(None, _names(model))}")
    for name in given:
        if not name or name not in parts:
            raise ModelError(
                f"{type(model).__name__} has no part {name!r}{nearest(name, _names(model))}"
            )
        part = parts[name]
        several = isinstance(part, torch.nn.ModuleList)
        found += [f"{name}.{i}" for i, _ in part.named_children()] if several else [name]
    return found


def _names(model: torch.nn.Module) -> Iterable[str]:
    return [name for name, _ in model.named_modules() if name]
