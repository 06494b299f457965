"""Runs that can be trained together, and runs that need to be trained only once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from graphsct.nn.checks import hooks_of
from graphsct.training.backend import DIFFERING
from graphsct.training.config import TrainConfig
from graphsct.training.data import TrainingData

__all__ = ["shape_of", "tracks"]

_PLAIN = (bool, int, float, str)
_OF_ANY_MODULE = frozenset(vars(torch.nn.Module()))


def shape_of(model: torch.nn.Module, config: TrainConfig) -> tuple[Any, ...]:
    """A key that is equal for models that can be trained together, if by the engine at all."""
    parts = [(path, type(part)) for path, part in model.named_modules()]
    settings = [
        (path, name, value)
        for path, part in model.named_modules()
        for name, value in _settings(part).items()
        if isinstance(value, _PLAIN) and (path or name not in DIFFERING)
    ]
    weights = [
        (name, value.shape, value.dtype, value.requires_grad)
        for name, value in model.named_parameters()
    ]
    hooks = [(path, name) for path, part in model.named_modules() for name in hooks_of(part)]
    names = ("epochs", "patience", "least_epochs", "checkpoint_every", "metric")
    limits = tuple(getattr(config, name) for name in names)
    # A run without dropout would draw random numbers for it beside one with it.
    dropped = tuple(name for name in DIFFERING if vars(model).get(name, 0) != 0)
    return tuple(parts), tuple(settings), tuple(weights), tuple(hooks), limits, dropped


def tracks(
    models: Sequence[torch.nn.Module],
    data: Sequence[TrainingData],
    configs: Sequence[TrainConfig],
) -> list[int]:
    """For each run, the first run that differs only in the rule that selects its epoch.

    Both train the same weights. Where that is not certain, as for models with hooks or with
    attributes that cannot be compared, a run is its own first.
    """
    firsts: dict[Hashable, list[int]] = {}
    found = []
    for run, (model, own, config) in enumerate(zip(models, data, configs, strict=True)):
        alike = firsts.setdefault((type(model), replace(config, select="val_loss")), [])
        first = next(
            (
                first
                for first in alike
                if _same_data(data[first], own) and _same_model(models[first], model)
            ),
            run,
        )
        if first == run:
            alike.append(run)
        found.append(first)
    return found


def _same_data(one: TrainingData, other: TrainingData) -> bool:
    if one is other:
        return True
    return one.x is other.x and _equal((one.train, one.val), (other.train, other.val))


def _same_model(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    parts, others = list(one.named_modules()), list(other.named_modules())
    if len(parts) != len(others):
        return False
    return all(
        path == other_path and _same_settings(part, other_part)
        for (path, part), (other_path, other_part) in zip(parts, others, strict=True)
    ) and _equal(one.state_dict().values(), other.state_dict().values())


def _same_settings(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    if type(one) is not type(other) or hooks_of(one) or hooks_of(other):
        return False
    mine, theirs = (_settings(module) for module in (one, other))
    return mine.keys() == theirs.keys() and all(
        value is theirs[name] or (isinstance(value, _PLAIN) and value == theirs[name])
        for name, value in mine.items()
    )


def _settings(module: torch.nn.Module) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name not in _OF_ANY_MODULE}


def _equal(some: Iterable[Tensor], others: Iterable[Tensor]) -> bool:
    some, others = list(some), list(others)
    return len(some) == len(others) and all(map(torch.equal, some, others))
