"""Checks of models, and of the numbers that layers and models take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from graphsct.errors import ModelError

__all__ = [
    "check_depth",
    "check_flag",
    "check_module",
    "check_number",
    "check_options",
    "check_positive",
    "check_rate",
    "check_share",
    "check_size",
    "hooks_of",
]

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# More layers take hours to build, and more channels than fit into an index cannot be built.
_MOST_LAYERS, _MOST_CHANNELS = 2**16, 2**31 - 1


def check_size(value: Any, name: str, most: int = _MOST_CHANNELS) -> int:
    """Return ``value`` if it is a whole number from one to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ModelError(f"{name} is {value!r}, expected a whole number of at least 1")
    if value > most:
        raise ModelError(f"{name} is {value}, expected a whole number of at most {most}")
    return value


def check_number(value: Any, name: str) -> float:
    """Return ``value`` if it is a finite number."""
    return _check(value, name, math.isfinite(_number(value)), "that is finite")


def check_options(value: Any, name: str) -> dict[str, Any]:
    """Return ``value`` as a dictionary if it maps names to values; ``None`` is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ModelError(f"{name} is {value!r}, expected an object with the names of options")
    return dict(value)


def check_depth(value: Any, name: str) -> int:
    """Return ``value`` if it is a number of layers: at least one, at most 65536."""
    return check_size(value, name, _MOST_LAYERS)


def check_positive(value: Any, name: str) -> float:
    """Return ``value`` if it is a number above zero."""
    return _check(value, name, 0 < _number(value) < math.inf, "above 0")


def check_share(value: Any, name: str) -> float:
    """Return ``value`` if it is a number from zero to one."""
    return _check(value, name, 0 <= _number(value) <= 1, "in [0, 1]")


def check_rate(value: Any, name: str) -> float:
    """Return ``value`` if it is a number from zero to less than one."""
    return _check(value, name, 0 <= _number(value) < 1, "in [0, 1)")


def check_flag(value: Any, name: str) -> bool:
    """Return ``value`` if it is true or false."""
    if not isinstance(value, bool):
        raise ModelError(f"{name} is {value!r}, expected true or false")
    return value


def check_module(value: Any) -> torch.nn.Module:
    """Return ``value`` if it is a model."""
    if not isinstance(value, torch.nn.Module):
        a_class = isinstance(value, type) and issubclass(value, torch.nn.Module)
        hint = "; make one: the class itself has no weights" if a_class else ""
        raise ModelError(f"the model is {value!r}, expected a torch.nn.Module{hint}")
    return value


def _number(value: Any) -> float:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return value if whole else math.nan


def _check(value: Any, name: str, right: bool, expected: str) -> float:
    if not right:
        raise ModelError(f"{name} is {value!r}, expected a number {expected}")
    return float(value)


def hooks_of(part: torch.nn.Module) -> list[str]:
    """The kinds of hooks that a part of a model has."""
    return [name for name in _HOOKS if getattr(part, name, None)]
