"""Lookup by name, with an error that suggests the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from graphsct.errors import GraphsctError, ModelError

__all__ = ["nearest", "pick"]

T = TypeVar("T")


def pick(
    registry: Mapping[str, T], name: Any, what: str, error: type[GraphsctError] = ModelError
) -> T:
    """The entry called ``name``, or an error with the nearest known name.

    Example:
        >>> pick({"relu": 1, "tanh": 2}, "relo", "activation")
        Traceback (most recent call last):
        graphsct.errors.ModelError: there is no activation 'relo', did you mean 'relu'? ...
    """
    if isinstance(name, str) and name in registry:
        return registry[name]
    raise error(f"there is no {what} {name!r}{nearest(name, registry)}")


def nearest(name: Any, names: Iterable[str]) -> str:
    """The end of an error about an unknown name: the nearest known name, then all.

    Example:
        >>> nearest("relo", ["relu", "tanh"])
        ", did you mean 'relu'? choose from relu, tanh"
    """
    names = list(names)
    lower = {known.lower(): known for known in names}
    near = get_close_matches(name.lower(), lower, n=1) if isinstance(name, str) else []
    hint = f", did you mean {lower[near[0]]!r}?" if near else ";"
    return f"{hint} choose from {', '.join(names)}"
