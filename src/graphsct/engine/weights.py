"""The weights of k models of the same shape, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

__all__ = ["GROUPS", "Stack"]

#: What the optimizer may treat differently.
GROUPS = ("conv", "dense", "activation")

_LINEAR = ("input", "output", "lin", "linear", "initial", "current")


def _turn(name: str, weight: Tensor) -> Tensor:
    """Linear layers are kept so that features are multiplied from the left: transpose them."""
    *_, layer, kind = name.split(".")
    return weight.t() if kind == "weight" and layer in _LINEAR else weight


def group_of(name: str) -> str:
    """The group that a weight of the model belongs to."""
    return {"convs": "conv", "activations": "activation"}.get(name.split(".")[0], "dense")


def _place(name: str) -> tuple[int, str]:
    """Groups stand together, and in them the same weight of all layers."""
    part, *rest = name.split(".")
    return GROUPS.index(group_of(name)), ".".join([part, *rest[1:]])


class Stack:
    """Weights of k runs and what training keeps of them, by their names in the model.

    Each weight is ``(k, ...)`` and part of one long vector, in which groups stand together. The
    same holds for its gradient, for Adam's two moments and for its best value so far.

    Args:
        models: of the same shape
    """

    def __init__(self, models: Sequence[torch.nn.Module]) -> None:
        named = [dict(model.named_parameters()) for model in models]
        order = sorted(named[0], key=_place)
        first = {name: _turn(name, named[0][name]) for name in order}
        self._allocate({name: first[name].shape for name in order}, len(models), first)
        for run, weights in enumerate(named):
            self.write("value", run, {k: weight.detach() for k, weight in weights.items()})

    def _allocate(self, shapes: dict[str, torch.Size], runs: int, like: dict[str, Tensor]) -> None:
        self.runs = runs
        self._shapes, self._like = shapes, like
        places = [0]
        for shape in shapes.values():
            places.append(places[-1] + runs * shape.numel())
        some = next(iter(like.values())).detach()
        self.flat: dict[str, Tensor] = {}
        self._parts: dict[str, dict[str, Tensor]] = {}
        for part in ("value", "grad", "mean", "square", "best"):
            flat = self.flat[part] = some.new_zeros(places[-1])
            self._parts[part] = {
                name: flat[a:b].view(runs, *shape)
                for (name, shape), (a, b) in zip(shapes.items(), pairwise(places), strict=True)
            }
        self.value, self.grad = self._parts["value"], self._parts["grad"]
        ends = {group_of(name): end for name, end in zip(shapes, places[1:], strict=True)}
        starts = [0, *list(ends.values())[:-1]]
        #: Where each group stands in the long vectors.
        self.groups = {g: slice(a, ends[g]) for g, a in zip(ends, starts, strict=True)}

    def layers(self, part: str, names: Sequence[str]) -> Tensor:
        """The same weight of all layers, which stand one behind the other; ``(L, k, ...)``."""
        first = self._parts[part][names[0]]
        start = first.storage_offset()
        flat = self.flat[part][start : start + len(names) * first.numel()]
        return flat.view(len(names), *first.shape)

    def pieces(self, *, together: bool) -> list[tuple[str, int, dict[str, Tensor]]]:
        """What to optimize: group, run, and the parts of a piece of the vectors.

        Args:
            together: one piece a group for all runs, instead of one a weight and run
        """
        parts = self._parts
        if together:
            flat = self.flat
            return [(g, 0, {p: flat[p][s] for p in flat}) for g, s in self.groups.items()]
        return [
            (group_of(name), run, {p: parts[p][name][run] for p in parts})
            for name in self._shapes
            for run in range(self.runs)
        ]

    def read(self, part: str, run: int) -> dict[str, Tensor]:
        """A copy of one part of one run, shaped as in its model."""
        return {
            name: _turn(name, value[run]).clone(memory_format=torch.contiguous_format)
            for name, value in self._parts[part].items()
        }

    def write(self, part: str, run: int, weights: dict[str, Any]) -> None:
        """Take one part of one run, shaped as in its model."""
        for name, value in self._parts[part].items():
            value[run].copy_(_turn(name, weights[name]))

    def flatten(self, part: str, run: int) -> Tensor:
        """A copy of one part of one run, as it stands in the long vector of a run alone."""
        return torch.cat([value[run].flatten() for value in self._parts[part].values()])

    def unflatten(self, flat: Tensor) -> dict[str, Tensor]:
        """What :meth:`flatten` gave, as :meth:`read` would have given it."""
        pieces = torch.split(flat, [shape.numel() for shape in self._shapes.values()])
        return {
            name: _turn(name, piece.view(shape)).clone(memory_format=torch.contiguous_format)
            for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)
        }

    def remember(self, runs: Tensor) -> None:
        """Keep the weights of these runs as their best; shape: ``(k,)`` of bool."""
        if self.runs == 1 or bool(runs.all()):
            self.flat["best"].copy_(self.flat["value"])
            return
        for name, value in self.value.items():
            best = self._parts["best"][name]
            torch.where(runs.view(-1, *[1] * (value.dim() - 1)), value, best, out=best)

    def take(self, runs: Tensor) -> Stack:
        """A stack of these runs alone; shape: ``(k',)``, their numbers."""
        new = Stack.__new__(Stack)
        new._allocate(self._shapes, len(runs), self._like)
        for part, values in self._parts.items():
            for name, value in values.items():
                new._parts[part][name].copy_(value[runs])
        return new
