"""Optional packages, imported when a job needs them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from graphsct.errors import MissingExtraError

__all__ = ["require", "stored_results"]


def require(module: str, extra: str) -> Any:
    """Import ``module``, or name the extra of graphsct that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # the package is installed, but one of its own dependencies is not
        raise MissingExtraError(
            f'{error.name} is not installed; run: pip install "graphsct[{extra}]"'
        ) from error


def stored_results(part: str) -> Path:
    """The folder of a part of the stored results, ``paper``, ``remedies`` or ``smoothness``.

    They are a package of their own, which a checkout has beside this one.
    """
    return Path(require("graphsct_results", "results").__file__).with_name(part)
