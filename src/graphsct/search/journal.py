"""The journal of a study in a folder. It survives ``kill -9``, and processes can share it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage

from graphsct.errors import TrainingError
from graphsct.files import parse_json, sweep
from graphsct.python_file import explain
from graphsct.training.disk import saving

__all__ = ["JOURNAL", "Journal"]

JOURNAL = "journal.jsonl"
_RESULTS = ("trials.jsonl", "best.json", "search.*")


class Journal:
    """The journal of a study; as a context, it also marks this process as present in the folder.

    Args:
        folder: folder of the study, created if necessary
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = "graphsct"
        self.place = folder / JOURNAL
        self.worker = uuid.uuid4().hex
        #: Hold it to write several entries that belong together.
        self.lock = FileLock(folder / ".lock")
        self._workers = folder / ".workers"
        self._presence = FileLock(self._workers / self.worker, timeout=0)

    def __enter__(self) -> Self:
        with saving(self.folder):
            self._check()
            self._workers.mkdir(parents=True, exist_ok=True)
            with self.lock:
                self._presence.acquire()
                self._sweep()
        return self

    def __exit__(self, *error: object) -> None:
        self._presence.release()
        (self._workers / self.worker).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Delete marks of killed processes, and unfinished files if no other process is present."""
        names = [path.name for path in self._workers.iterdir()]
        present = [name for name in names if not self.is_gone(name)]
        if present == [self.worker]:
            sweep(self.folder, _RESULTS)

    def _check(self) -> None:
        """Raise an error if the folder has files but no journal."""
        names = {path.name for path in self.folder.glob("[!.]*")}
        if names and JOURNAL not in names:
            raise TrainingError(
                f"{self.folder} is not empty and is not a study (it has no {JOURNAL}); choose "
                "another folder: storage=..."
            )

    def open(self) -> JournalStorage:
        """The storage for Optuna, which reads all entries, or an error that names a damaged one."""
        path = str(self.place)
        try:
            return JournalStorage(JournalFileBackend(path, _SystemLock(path)))
        except OSError:
            raise
        except Exception as error:  # whatever reading a damaged entry may raise
            raise TrainingError(
                f"{path}{self._damaged_line()} is damaged: {explain(error)}; restore it "
                "from a copy, or choose another folder: storage=..."
            ) from error

    def _damaged_line(self) -> str:
        """The first line that is not an entry, if there is one."""
        with self.place.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    dict(parse_json(line.decode()))
                except (TypeError, ValueError):
                    return f", line {number},"
        return ""

    def is_gone(self, worker: str | None) -> bool:
        """Whether the process with that name has ended, for any reason."""
        if worker == self.worker:
            return False
        if worker is None or not (self._workers / worker).is_file():
            return True
        try:
            with FileLock(self._workers / worker, timeout=0):
                (self._workers / worker).unlink(missing_ok=True)
        except Timeout:
            return False
        return True


class _SystemLock(JournalFileOpenLock):
    """A lock that the operating system releases when its process is killed.

    Acquiring it also removes an incomplete last entry, such as a full disk leaves.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._path = Path(path)
        self._lock = FileLock(self._path.with_name(".journal.lock"))

    def acquire(self) -> bool:
        self._lock.acquire()
        with self._path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            if file.read() not in (b"", b"\n"):
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        return True

    def release(self) -> None:
        self._lock.release()
