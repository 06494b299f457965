"""The folders of raw and processed files, with locks and atomic writes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphsct.errors import DataError

__all__ = ["cache_folder", "data_root", "lock", "temporary_folder"]


def cache_folder() -> Path:
    """``GRAPHSCT_CACHE``, else the platform's cache folder."""
    given = os.environ.get("GRAPHSCT_CACHE")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("graphsct", appauthor=False)


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The argument, else ``GRAPHSCT_DATA``, else the cache folder."""
    if root is not None:
        return Path(root).expanduser()
    given = os.environ.get("GRAPHSCT_DATA")
    return Path(given).expanduser() if given else cache_folder()


@contextmanager
def lock(folder: Path, name: str) -> Iterator[None]:
    """A lock between processes, released when its owner ends."""
    from filelock import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = FileLock(folder / f".{name}.lock")
        held.acquire()
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield
    finally:
        held.release()


@contextmanager
def temporary_folder(folder: Path, name: str) -> Iterator[Path]:
    """A temporary folder inside ``folder``, so that renaming is atomic. Call it with the lock held:
    it removes the leftovers of killed processes.
    """
    for leftover in folder.glob(f".{name}-*.tmp"):
        shutil.rmtree(leftover)
    try:
        path = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".tmp", dir=folder))
        try:
            yield path
        finally:
            shutil.rmtree(path)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> DataError:
    return DataError(
        f"cannot write to {folder} ({error.strerror or error}); free some space, or set "
        "GRAPHSCT_CACHE to a folder that can be written"
    )
