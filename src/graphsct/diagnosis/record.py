"""The inputs and outputs of the layers of a model while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.nn import functional

from graphsct.diagnosis.calling import tracked
from graphsct.diagnosis.layers import find_features, has_matrix, named_layers

__all__ = ["Layer", "Recorder"]

_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.SELU)


@dataclass(frozen=True, eq=False)
class Layer:
    """One call of a layer.

    Args:
        name: name of the layer in its model, with the number of the call from the second on
        kind: class of the layer
        features: features for the next part, in the autograd graph; shape: ``(n, d)``
        where: where they were recorded: ``input of`` the next part, or ``output``
        activation: the activation that turns ``before`` into them, if it is known
        before: input of the activation; shape: ``(n, d)``
        frozen: whether the layer has weights, none of which can be trained
    """

    name: str
    kind: str
    features: Tensor
    where: str
    activation: nn.Module | None
    before: Tensor | None
    frozen: bool = False

    @property
    def title(self) -> str:
        """The layer in a sentence."""
        return f"layer {self.name} ({self.kind})"


@dataclass(eq=False)
class _Call:
    name: str
    kind: str
    tensor: Tensor  # in the autograd graph, and whatever the model has made of it since
    output: Tensor  # a copy
    frozen: bool
    bent: list[tuple[nn.Module, Tensor]] = field(default_factory=list)
    taken: list[tuple[str, Tensor]] = field(default_factory=list)


class Recorder:
    """A context that records every call of a layer, in a training step or any other forward pass.

    It uses hooks and removes them at the end. The model computes the same values and gradients.
    Features are in the autograd graph even if all weights are frozen, so that they have gradients.

    *The features of a layer.* Activations are often functions, which no hook sees. So the features
    of a layer are the input of the next layer or linear map, if it depends on the layer's output.
    The activation is the known one that maps that output to this input. If there is no such
    input, the features are the layer's output.

    Args:
        model: any model
        layers: names of its layers; a ``ModuleList`` stands for its parts
        num_nodes: number of nodes of the graph

    Example:
        >>> from graphsct.datasets import demo
        >>> from torch_geometric.nn import GCN
        >>> data, model = demo(), GCN(16, 8, num_layers=2, out_channels=3)
        >>> with Recorder(model, ["convs"], data.num_nodes) as recorder:
        ...     scores = model(data.x, data.edge_index)
        >>> [(layer.where, layer.activation) for layer in recorder.layers()]
        [('input of convs.1', ReLU()), ('output', None)]
    """

    def __init__(self, model: nn.Module, layers: Iterable[str], num_nodes: int) -> None:
        self.entry: Tensor | None = None  # what the first layer takes
        self._model = model
        self._names = named_layers(model, layers)
        self._num_nodes = num_nodes
        self._calls: list[_Call] = []
        self._hooks: list[Any] = []

    def __enter__(self) -> Self:
        for name, part in self._model.named_modules():
            inside = any(name.startswith(f"{layer}.") for layer in self._names)
            if name in self._names:
                self._hooks.append(
                    part.register_forward_pre_hook(self._enter(name), with_kwargs=True)
                )
                self._hooks.append(part.register_forward_hook(self._leave(name)))
            elif isinstance(part, _ACTIVATIONS) and not inside:
                self._hooks.append(part.register_forward_pre_hook(self._bend))
            elif name and has_matrix(part) and not inside:
                self._hooks.append(
                    part.register_forward_pre_hook(self._take(name), with_kwargs=True)
                )
        return self

    def __exit__(self, *error: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def _take(self, name: str) -> Any:
        def hook(part: nn.Module, args: Any, kwargs: Any) -> None:
            found = find_features((args, kwargs), self._num_nodes)
            if found is not None and self._calls:
                self._calls[-1].taken.append((name, found))

        return hook

    def _enter(self, name: str) -> Any:
        take = self._take(name)

        def hook(part: nn.Module, args: Any, kwargs: Any) -> Any:
            take(part, args, kwargs)
            found = find_features((args, kwargs), self._num_nodes)
            if self.entry is not None or found is None:
                return None
            self.entry = tracked(found)
            args = tuple(self.entry if value is found else value for value in args)
            kwargs = {k: self.entry if v is found else v for k, v in kwargs.items()}
            return args, kwargs

        return hook

    def _leave(self, name: str) -> Any:
        def hook(part: nn.Module, args: Any, output: Any) -> Any:
            found = find_features(output, self._num_nodes)
            if found is None:
                return None
            tensor = tracked(found) if output is found else found
            calls = 1 + sum(call.name.split(" ")[0] == name for call in self._calls)
            shown = name if calls == 1 else f"{name} ({calls})"
            copy = found.detach().clone()
            trained = [weight.requires_grad for weight in part.parameters()]
            frozen = bool(trained) and not any(trained)
            self._calls.append(_Call(shown, type(part).__name__, tensor, copy, frozen))
            return tensor if output is found else None

        return hook

    def _bend(self, part: nn.Module, args: Any) -> None:
        found = find_features(args, self._num_nodes)
        if found is not None and self._calls:
            call = self._calls[-1]
            z = call.output if found is call.tensor else found.detach().clone()
            call.bent.append((part, z))

    def layers(self) -> list[Layer]:
        """The recorded layers, one entry per call, in the order of the calls."""
        return [_resolve(call) for call in self._calls]


def _resolve(call: _Call) -> Layer:
    seen, before = call.bent[-1] if call.bent else (None, call.output)
    for name, taken in call.taken:
        activation = _activation(before, taken.detach(), seen)
        if activation is not None or _depends(taken, call.tensor):
            z = None if activation is None else before
            where = f"input of {name}"
            return Layer(call.name, call.kind, taken, where, activation, z, call.frozen)
    return Layer(call.name, call.kind, call.tensor, "output", None, None, call.frozen)


@torch.no_grad()
def _activation(z: Tensor, h: Tensor, seen: nn.Module | None) -> nn.Module | None:
    """The known activation that maps ``z`` to ``h``, ``None`` if there is none.

    One that changes nothing, because all of ``z`` is positive, is not recognized.
    """
    if z.shape != h.shape:
        return None
    same = torch.equal(z, h)
    known: list[nn.Module] = [nn.ReLU(), nn.ELU(), nn.SELU()]
    for activation in [seen] if seen is not None else [] if same else known:
        if torch.equal(activation(z.clone()), h):  # it may work in place
            return activation
    if same or not z.numel():
        return None
    lowest = int(z.argmin())
    slope = round(float(h.reshape(-1)[lowest] / z.reshape(-1)[lowest]), 6)
    if 0 < slope < 1 and torch.allclose(functional.leaky_relu(z, slope), h, rtol=1e-5):
        return nn.LeakyReLU(slope)
    return None


def _depends(y: Tensor, x: Tensor) -> bool:
    """Whether ``y`` was computed from ``x``, read off the autograd graph.

    The graph outlives a backward pass, which frees only the tensors saved in it.
    """
    if not (y.requires_grad and x.requires_grad):
        return y is x
    wanted, start = (get_gradient_edge(tensor)[:2] for tensor in (x, y))
    edges: list[tuple[Node | None, int]] = [start]
    seen = set()
    while edges:
        edge = edges.pop()
        if edge == wanted:
            return True
        node = edge[0]
        if node is not None and node not in seen:
            seen.add(node)
            edges.extend(node.next_functions)
    return False
