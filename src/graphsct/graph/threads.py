"""A second thread, for work on the edges of a large graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["in_two_threads"]

Result = TypeVar("Result")

#: Number of edges from which a second thread pays.
_MANY = 1 << 20


def in_two_threads(
    function: Callable[[Any], Result], jobs: Iterable[Any], *, edges: int
) -> list[Result]:
    """The result of each job, for a graph with so many edges; only for many of them a second
    thread pays. NumPy and SciPy compute without the interpreter's lock.
    """
    if edges < _MANY:
        return list(map(function, jobs))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, jobs))
