"""The end of a search, by a clock that nobody sets back."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["Deadline"]


class Deadline:
    """A moment some seconds from now.

    Another machine has another clock, so a pickled deadline is the time that is left.

    Example:
        >>> Deadline(0.0).passed, Deadline(60.0).passed
        (True, False)
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether it is that late."""
        return time.monotonic() >= self._end

    def __reduce__(self) -> tuple[Any, ...]:
        return Deadline, (self._end - time.monotonic(),)
