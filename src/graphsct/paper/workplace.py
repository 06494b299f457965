"""The folder of a cell in progress, for one process at a time."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graphsct.errors import ExperimentError
from graphsct.paper.cell import CellSettings
from graphsct.training.checkpoint import saving

__all__ = ["alone", "clear_runs", "runs_folder"]


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """A context that locks the folder: processes may share a table, but not a cell."""
    with saving(work):
        work.mkdir(parents=True, exist_ok=True)
        held = FileLock(work / ".lock", timeout=0)
        try:
            held.acquire()
        except Timeout:
            raise ExperimentError("another process is running this cell") from None
    try:
        yield
    finally:
        held.release()


def runs_folder(work: Path, settings: CellSettings) -> Path:
    """Return the folder of runs with these settings, kept until the cell is finished."""
    text = json.dumps(settings.to_dict(), sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return work / f"runs-{digest}"


def clear_runs(work: Path) -> None:
    """Delete the runs of a finished cell; its search stays, so that it can be extended."""
    for runs in work.glob("runs-*"):
        shutil.rmtree(runs)
