"""One way to look a name up in a registry."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from graphsct.errors import ModelError

__all__ = ["pick"]

T = TypeVar("T")


def pick(registry: Mapping[str, T], name: Any, what: str) -> T:
    """The entry called ``name``, or an error with the nearest right name.

    Example:
        >>> pick({"relu": 1, "tanh": 2}, "relo", "activation")
        Traceback (most recent call last):
        graphsct.errors.ModelError: there is no activation 'relo', did you mean 'relu'? ...
    """
    if isinstance(name, str) and name in registry:
        return registry[name]
    near = get_close_matches(name.lower(), registry, n=1) if isinstance(name, str) else []
    hint = f", did you mean {near[0]!r}?" if near else ";"
    raise ModelError(f"there is no {what} {name!r}{hint} choose from {', '.join(registry)}")
