"""The weights of k models of the same shape, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.program import Program

__all__ = ["Weight", "Weights"]

#: Groups of weights with their own optimizer settings, and buffers, which are not optimized.
_GROUPS = ("conv", "dense", "offset", "buffer")


class Weights:
    """Parameters and buffers of k runs, by name, with their gradients, moments and best values.

    Each is ``(k, ...)`` and part of one long vector, in which groups stand together. The same
    holds for its gradient, for Adam's two moments and for its best value so far. Weights of linear
    layers are transposed, so that features are multiplied from the left.

    Args:
        models: of the same shape
    """

    def __init__(self, models: Sequence[Any]) -> None:
        model = models[0]
        self._groups, self._transposed = _groups(model), _transposed(model)
        tensors = [_tensors(model) for model in models]
        self._dtypes = {name: tensor.dtype for name, tensor in tensors[0].items()}
        order = sorted(tensors[0], key=self._position)
        shapes = {name: self._turn(name, tensors[0][name]).shape for name in order}
        self._allocate(shapes, len(models), next(model.parameters()))
        for run, values in enumerate(tensors):
            for name, value in self._parts["value"].items():
                value[run].copy_(self._turn(name, values[name]))

    @classmethod
    def view(cls, model: Any) -> Weights:
        """The weights of one model, not copied, and without gradients, moments or best values."""
        new = cls.__new__(cls)
        new._groups, new._transposed, new.runs = _groups(model), _transposed(model), 1
        tensors = _tensors(model).items()
        new.value = new.grad = {name: new._turn(name, x).unsqueeze(0) for name, x in tensors}
        return new

    def _position(self, name: str) -> tuple[int, str]:
        """A sort key: by group, and within a group the same weight of all layers together."""
        part, *rest = name.split(".")
        return _GROUPS.index(self._groups[name]), ".".join([part, *rest[1:]])

    def is_transposed(self, name: str) -> bool:
        """Whether a weight is that of a linear layer."""
        return name in self._transposed

    def _turn(self, name: str, weight: Tensor) -> Tensor:
        return weight.t() if self.is_transposed(name) else weight

    def _allocate(self, shapes: dict[str, torch.Size], runs: int, like: Tensor) -> None:
        self.runs, self._shapes, self._like = runs, shapes, like.detach()
        ends = [0]
        for shape in shapes.values():
            ends.append(ends[-1] + runs * shape.numel())
        self.flat: dict[str, Tensor] = {}
        self._parts: dict[str, dict[str, Tensor]] = {}
        for part in ("value", "grad", "mean", "square", "best"):
            flat = self.flat[part] = self._like.new_zeros(ends[-1])
            self._parts[part] = {
                name: flat[a:b].view(runs, *shape)
                for (name, shape), (a, b) in zip(shapes.items(), pairwise(ends), strict=True)
            }
        self.value, self.grad = self._parts["value"], self._parts["grad"]
        last = {self._groups[name]: end for name, end in zip(shapes, ends[1:], strict=True)}
        starts = [0, *list(last.values())[:-1]]
        self._slices = {g: slice(a, last[g]) for g, a in zip(last, starts, strict=True)}

    def layers(self, part: str, names: Sequence[str]) -> Tensor | None:
        """The same weight of all layers as one array, if they stand together; ``(L, k, ...)``."""
        pieces = [self._parts[part][name] for name in names]
        first, size, start = pieces[0], pieces[0].numel(), pieces[0].storage_offset()
        if any(
            x.shape != first.shape or x.storage_offset() != start + i * size
            for i, x in enumerate(pieces)
        ):
            return None
        return self.flat[part][start : start + len(names) * size].view(-1, *first.shape)

    def pieces(self, *, together: bool) -> list[tuple[str, int, dict[str, Tensor]]]:
        """The pieces to optimize: for each its group, its run, and its tensors by part.

        Args:
            together: one piece per group for all runs, instead of one per weight and run
        """
        if together:
            slices = [(g, s) for g, s in self._slices.items() if g != "buffer"]
            return [(g, 0, {part: self.flat[part][s] for part in self.flat}) for g, s in slices]
        return [
            (self._groups[name], run, {part: values[name][run] for part, values in parts})
            for parts in [self._parts.items()]
            for name in self._shapes
            if self._groups[name] != "buffer"
            for run in range(self.runs)
        ]

    def read(self, part: str, run: int) -> dict[str, Tensor]:
        """A copy of one part of one run, shaped as in its model."""
        return {
            name: self._turn(name, value[run])
            .to(self._dtypes[name])
            .clone(memory_format=torch.contiguous_format)
            for name, value in self._parts[part].items()
        }

    def flatten(self, part: str, run: int) -> Tensor:
        """A copy of one part of one run, in the order of the long vector of a single run."""
        return torch.cat([value[run].flatten() for value in self._parts[part].values()])

    def flatten_model(self, weights: Mapping[str, Tensor]) -> Tensor:
        """The weights of a model, in the order of the long vector of a single run."""
        turned = [self._turn(name, weights[name]).flatten() for name in self._shapes]
        return torch.cat([piece.to(self._like.dtype) for piece in turned])

    def remember(self, runs: Tensor) -> None:
        """Keep the weights of these runs as their best; shape: ``(k,)`` of bool."""
        if self.runs == 1 or bool(runs.all()):
            self.flat["best"].copy_(self.flat["value"])
            return
        for name, value in self.value.items():
            best = self._parts["best"][name]
            torch.where(runs.view(-1, *[1] * (value.dim() - 1)), value, best, out=best)

    def take(self, runs: Tensor) -> Weights:
        """A copy with these runs only, given by their numbers; shape: ``(k',)``."""
        new = Weights.__new__(Weights)
        new._groups, new._transposed, new._dtypes = self._groups, self._transposed, self._dtypes
        new._allocate(self._shapes, len(runs), self._like)
        for part, values in self._parts.items():
            for name, value in values.items():
                new._parts[part][name].copy_(value[runs])
        return new


def _tensors(model: Any) -> dict[str, Tensor]:
    """Parameters and buffers by their names in ``state_dict``."""
    return {name: tensor.detach() for name, tensor in model.state_dict().items()}


def _transposed(model: Any) -> set[str]:
    """The names of the weights of linear layers."""
    modules = model.named_modules()
    linear = [path for path, module in modules if isinstance(module, torch.nn.Linear)]
    return {f"{path}.weight".lstrip(".") for path in linear}


def _groups(model: Any) -> dict[str, str]:
    """The group of each parameter and buffer; all parameters are dense if the model has none."""
    found = dict.fromkeys(model.state_dict(), "buffer")
    found |= {name: "dense" for name, _ in model.named_parameters()}
    if hasattr(model, "param_groups"):
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        for group in model.param_groups():
            found |= {names[id(parameter)]: group["name"] for parameter in group["params"]}
    return found


class Weight:
    """One parameter of k runs as a tape uses it.

    Args:
        weights: the weights of all runs
        name: name of the parameter in the model
    """

    def __init__(self, weights: Weights, name: str) -> None:
        self.name, self.transposed = name, weights.is_transposed(name)
        self.value, self.grad = weights.value[name], weights.grad[name]
        self._written = False

    @property
    def row(self) -> Tensor:
        """A vector of all runs side by side, as features are; shape: ``(k * width,)``."""
        return self.value.view(-1)

    @contextmanager
    def write_grad(self, do: Program) -> Iterator[Tensor]:
        """Where to write the gradient; it is added if the weight has a gradient already.

        Shape: ``(k, ...)``.
        """
        if not self._written:
            self._written = True
            yield self.grad
        else:
            array = do.arena.take(*self.grad.shape)
            yield array
            do(self.grad.add_, array)
            do.arena.release(array)
