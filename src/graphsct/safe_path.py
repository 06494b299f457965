"""Processes that import nothing from the current folder, whatever files it holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["safe_path"]

_NAME = "PYTHONSAFEPATH"


@contextmanager
def safe_path() -> Iterator[None]:
    """A context whose child processes look for modules as the command ``graphsct`` does.

    Python puts the current folder first on the path of ``python -m`` and ``python -c``, so that a
    file ``json.py`` there would be executed.
    """
    before = os.environ.get(_NAME)
    os.environ[_NAME] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_NAME]
        else:
            os.environ[_NAME] = before
