"""Ctrl-C between two epochs, where nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["interruptible"]


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; pressed twice, it stops at once.

    In other threads than the main one, which gets no signals, and where somebody else looks after
    Ctrl-C, it does nothing.
    """
    asked = False

    def ask(signum: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
