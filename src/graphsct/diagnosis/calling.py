"""Calls of a model whose arguments are unknown, without side effects."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedParameter

from graphsct.datasets.features import sparse_features
from graphsct.errors import GraphsctError, ModelError
from graphsct.nn import Model
from graphsct.training.data import read_edges, read_features
from graphsct.training.graphs import arguments_of

__all__ = ["Call", "arguments", "prepare", "tracked", "trainable", "undisturbed"]

#: A user's function that calls a model with some data.
Call = Callable[[torch.nn.Module, Any], Any]


def arguments(model: torch.nn.Module, data: Any) -> tuple[Any, ...]:
    """The arguments of a model for these data.

    A model with one required argument gets the data. Any other gets the features and the
    ``edge_index``, in reverse order if the name of its first argument contains ``edge`` or ``adj``.
    The weights of the edges follow if the data have them and the third name contains ``weight``.
    Other required arguments are taken from the data by their names. Where the data lack them, the
    edges to predict are the graph's own, and all nodes belong to one graph.

    Args:
        model: a model of :mod:`graphsct.nn` or any other, which gets dense features
        data: a PyTorch Geometric ``Data``

    Example:
        >>> from graphsct.datasets import demo
        >>> class Odd(torch.nn.Module):
        ...     def forward(self, adjacency_pairs, nodes): ...
        >>> [tuple(value.shape) for value in arguments(Odd(), demo())]
        [(2, 1800), (300, 16)]
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = inspect.signature(entrance(model)).parameters.values()
    names = [p.name for p in taken if p.kind in kinds]
    required = [p for p in taken if p.kind in kinds and p.default is p.empty]
    if len(required) == 1:
        return (data,)
    ours = isinstance(model, Model)
    name = str(getattr(data, "name", None) or "the data")
    x = read_features(data, name)
    edges, *weight = read_edges(data, name, plain=not ours)
    if ours:
        return sparse_features(x), edges, *weight
    x = x.to_dense() if x.layout != torch.strided else x
    given = [x, edges]
    if names and any(part in names[0].lower() for part in ("edge", "adj")):
        given.reverse()
    if weight and len(names) > 2 and "weight" in names[2].lower():
        given += weight
    more = [_own_or_default(data, p.name) for p in required[len(given) :]]
    return (*given, *takewhile(lambda value: value is not None, more))


def entrance(model: torch.nn.Module) -> Callable[..., Any]:
    """The method that a call of a model runs: ``encode`` if it has no ``forward``."""
    if "forward" in dir(model) and not _is_missing(model.forward):
        return model.forward
    encode = getattr(model, "encode", None)
    if not callable(encode):
        raise ModelError(
            f"{type(model).__name__} has neither forward nor encode; pass call=lambda model, data: "
            "..."
        )
    found: Callable[..., Any] = encode
    return found


def _is_missing(forward: Any) -> bool:
    return getattr(forward, "__name__", "") == "_forward_unimplemented"


def _own_or_default(data: Any, name: str) -> Any:
    """An argument from the data by its name, or its default; ``None`` if there is neither."""
    if name in data:
        return data[name]
    if "edge" in name and "label" in name:
        return data.edge_index
    return data.edge_index.new_zeros(data.num_nodes) if name == "batch" else None


def prepare(
    model: torch.nn.Module, data: Any, call: Call | None = None, *, track: bool = False
) -> Callable[[], Any]:
    """A function without arguments that runs the model on the data.

    Args:
        model: any
        data: a PyTorch Geometric ``Data``
        call: how to call the model, if :func:`arguments` gets it wrong; by default a model of
            several graphs, which takes a ``batch``, gets it by name
        track: make the features part of the autograd graph, if :func:`arguments` passes them
    """
    if any(isinstance(weight, UninitializedParameter) for weight in model.parameters()):
        raise ModelError(
            f"{type(model).__name__} has layers that take their sizes from the first input; call "
            "it once"
        )
    taken = inspect.signature(entrance(model)).parameters if call is None else ()
    if call is None and "batch" in taken and getattr(data, "batch", None) is not None:
        call = _call_by_name
    given = () if call is not None else arguments(model, data)
    if track:
        given = tuple(_track(value) for value in given)
    # A call runs the hooks of a model, its method does not.
    ask = model if call is not None or not _is_missing(model.forward) else entrance(model)

    def run() -> Any:
        try:
            return ask(*given) if call is None else call(model, data)
        except GraphsctError:
            raise
        except Exception as error:
            shown = "call(model, data)" if call is not None else _describe(given)
            raise ModelError(
                f"{type(model).__name__} failed when called with {shown}: {type(error).__name__}: "
                f"{error}; if it takes something else, pass call=lambda model, data: model(...)"
            ) from error

    return run


def _call_by_name(model: torch.nn.Module, batch: Any) -> Any:
    given, named = arguments_of(model, batch)
    return model(*given, **named)


def tracked(x: Tensor) -> Tensor:
    """The same values in the autograd graph, not as a leaf, so that they may change in place."""
    if x.requires_grad or not torch.is_grad_enabled():
        return x
    return x.detach().requires_grad_().clone()


def _track(value: Any) -> Any:
    """Features, or a copy of the data with features, as part of the autograd graph."""
    if isinstance(value, Tensor):
        dense = value.layout == torch.strided and value.is_floating_point()
        return tracked(value) if dense else value
    if isinstance(getattr(value, "x", None), Tensor):
        value = copy.copy(value)
        value.x = _track(value.x)
    return value


def _describe(given: tuple[Any, ...]) -> str:
    parts = [
        f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        for value in given
    ]
    return ", ".join(parts)


def trainable(model: torch.nn.Module, data: Any, call: Call | None = None) -> torch.nn.Module:
    """A model with any arguments, wrapped so that :func:`~graphsct.fit` can train it on these data.

    Args:
        model: any model; those of :mod:`graphsct.nn` are returned unchanged
        data: the data of every call
        call: how to call the model, if :func:`arguments` gets it wrong
    """
    return model if isinstance(model, Model) else _Called(model, data, call)


class _Called(torch.nn.Module):
    """A model that is always called in the same way."""

    def __init__(self, model: torch.nn.Module, data: Any, call: Call | None) -> None:
        super().__init__()
        self.model = model
        self._run = prepare(model, data, call)

    def forward(self, *inputs: Any) -> Any:
        return self._run()


@contextmanager
def undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode; restore its parts' modes and random numbers at the end."""
    modes = {part: part.training for part in model.modules()}
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        try:
            for part in modes:
                part.training = False
            yield
        finally:
            for part, training in modes.items():
                part.training = training
