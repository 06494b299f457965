"""The folder in which a cell is under way: for one process at a time, its runs by settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graphsct.errors import ExperimentError
from graphsct.paper.cell import Settings
from graphsct.training.checkpoint import saving

__all__ = ["alone", "clear_runs", "runs_folder"]


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Several processes may share the cells of a table, but not one cell."""
    with saving(work):
        work.mkdir(parents=True, exist_ok=True)
        held = FileLock(work / ".lock", timeout=0)
        try:
            held.acquire()
        except Timeout:
            raise ExperimentError("another process is at this cell") from None
    try:
        yield
    finally:
        held.release()


def runs_folder(work: Path, settings: Settings) -> Path:
    """Where runs with these settings are kept until the cell is done."""
    text = json.dumps(settings.to_dict(), sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return work / f"runs-{digest}"


def clear_runs(work: Path) -> None:
    """Delete the runs of a cell that is done; the search stays, so that it can go on."""
    for runs in work.glob("runs-*"):
        shutil.rmtree(runs)
