"""Folders on disk: for one process at a time, with errors that say which files are safe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graphsct.errors import GraphsctError, TrainingError
from graphsct.files import make_folder

__all__ = ["LOCK", "held", "saving"]

#: The locked file of a folder. It is never deleted: whoever holds it would lose its lock unawares.
LOCK = ".lock"


@contextmanager
def held(folder: Path, refusal: GraphsctError | None = None) -> Iterator[None]:
    """Keep other processes out of a folder, which is created if it does not exist.

    Args:
        folder: the folder
        refusal: the error if another process is using it; by default one that names the folder
    """
    lock = FileLock(folder / LOCK, timeout=0)
    with saving(folder):
        make_folder(folder)
        try:
            lock.acquire()
        except Timeout:
            raise refusal or TrainingError(
                f"another process is using {folder}; wait for it, or use another folder"
            ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into one that says which files are safe."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"cannot write to {folder}: {error.strerror or error}. Files written earlier are "
            "intact; free some space and continue, or use another folder"
        ) from error
