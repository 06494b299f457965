"""Cells in progress, each in a folder of its own and for one process at a time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from graphsct.errors import ExperimentError, GraphsctError
from graphsct.files import make_folder, sweep
from graphsct.paper.cell import CellSettings, Key, Stored
from graphsct.training.checkpoint import RUN_FILES
from graphsct.training.config import TrainConfig
from graphsct.training.disk import LOCK, held
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.progress import Progress
from graphsct.training.run import Run

__all__ = [
    "CellOutcome",
    "alone",
    "clear_runs",
    "each_cell",
    "fit_all",
    "runs_folder",
    "train_runs",
]

S = TypeVar("S", bound=Stored)

_RUNS = re.compile(r"runs-[0-9a-f]{12}")


@dataclass(frozen=True)
class CellOutcome(Generic[S]):
    """The outcome of a cell: its stored results, or the reason for its failure."""

    key: Key
    stored: S | None = None
    reason: str = ""


def each_cell(
    keys: Iterable[Key], out: Path, work: Path, make: Callable[[Key, Path], S]
) -> Iterator[CellOutcome[S]]:
    """Make the results of cells one by one; one that fails does not stop the others.

    Ctrl-C raises :class:`KeyboardInterrupt` after the current runs have been saved.

    Args:
        keys: keys of the cells
        out: folder for the results, created first: if that fails, no hours of work are lost
        work: folder for work in progress
        make: makes the results of a key, given its folder for work, which is locked meanwhile
    """
    make_folder(out)
    with interruptible() as asked:
        for key in keys:
            try:
                with alone(work / key.name):
                    outcome = CellOutcome(key, make(key, work / key.name))
            except GraphsctError as error:
                outcome = CellOutcome(key, reason=str(error))
            if asked():
                raise KeyboardInterrupt
            yield outcome


def alone(work: Path) -> AbstractContextManager[None]:
    """A context that locks the folder: processes may share a table, but not a cell."""
    return held(work, ExperimentError("another process is running this cell"))


def runs_folder(work: Path, settings: CellSettings) -> Path:
    """Return the folder of runs with these settings, kept until the cell is finished."""
    text = json.dumps(settings.to_dict(), sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return work / f"runs-{digest}"


def clear_runs(work: Path) -> None:
    """Delete the runs of a finished cell. Its search is kept, so that it can be extended, and so
    are files that are not ours.
    """
    for runs in work.iterdir():
        if _RUNS.fullmatch(runs.name) and runs.is_dir() and not runs.is_symlink():
            _clear(runs)


def _clear(folder: Path) -> None:
    """Delete the files of runs in a folder and its subfolders, then the folders that are empty."""
    sweep(folder, RUN_FILES)
    for path in folder.iterdir():
        if path.name in (*RUN_FILES, LOCK):
            path.unlink()
        elif path.is_dir() and not path.is_symlink():
            _clear(path)
    with suppress(OSError):  # the folder is kept if it holds other files
        folder.rmdir()


def train_runs(
    key: Key,
    models: Sequence[Any],
    data: Any,
    configs: Sequence[TrainConfig],
    splits: Sequence[int | None],
    folders: Sequence[Path],
) -> list[Run]:
    """Train the models of a cell together; after an interruption their folders keep the runs."""
    with Progress(len(models), configs[0].epochs, f"{key.name}, run") as bar:
        return fit_all(models, data, configs, splits=splits, folders=folders, progress=bar)


def fit_all(
    models: Sequence[torch.nn.Module], data: Any, configs: Sequence[TrainConfig], **options: Any
) -> list[Run]:
    """Train models with :func:`~graphsct.fit_many`; after Ctrl-C raise :class:`KeyboardInterrupt`
    instead of returning some runs, or runs that were cut short.
    """
    runs = fit_many(models, data, configs, **options)
    if len(runs) < len(models) or any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    return runs
