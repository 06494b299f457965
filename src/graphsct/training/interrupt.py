"""Ctrl-C between two epochs, where nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["interruptible"]


class _Asked:
    """A handler that remembers the first Ctrl-C and gives way to the second."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, signum: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; pressed twice, it stops at once.

    A nested context reuses the outer one. It does nothing in threads other than the main one, which
    get no signals, and where somebody else handles Ctrl-C.
    """
    current = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread()
    if isinstance(current, _Asked):
        yield lambda: current.asked
    elif here and current is signal.default_int_handler:
        handler = _Asked()
        signal.signal(signal.SIGINT, handler)
        try:
            yield lambda: handler.asked
        finally:
            signal.signal(signal.SIGINT, current)
    else:
        yield lambda: False
