"""Packages that only some jobs need, imported when such a job starts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphsct.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, extra: str) -> Any:
    """Import ``module``, or say which extra of graphsct brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # it is there, but something that it needs is not
        raise MissingExtraError(
            f'{error.name} is not installed; run: pip install "graphsct[{extra}]"'
        ) from error
