"""The end of a search, by a clock that never goes back."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["Deadline"]


class Deadline:
    """A moment some seconds from now.

    Machines have different clocks, so pickling a deadline keeps the time that is left.

    Example:
        >>> Deadline(0.0).passed, Deadline(60.0).passed
        (True, False)
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the moment has passed."""
        return time.monotonic() >= self._end

    def __reduce__(self) -> tuple[Any, ...]:
        return Deadline, (self._end - time.monotonic(),)
