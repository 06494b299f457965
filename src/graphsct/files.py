"""Atomic writes, after which a file is either complete or does not exist, and strict reads."""

from __future__ import annotations

import csv
import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = [
    "leftovers",
    "make_folder",
    "make_place",
    "parse_json",
    "replacing",
    "sweep",
    "write_csv",
    "write_json",
    "write_jsonl",
    "write_text",
]


@contextmanager
def replacing(path: Path, *, flush: bool = True) -> Iterator[Path]:
    """Yield a temporary path, whose file replaces ``path`` if no error occurs.

    Missing folders are created. The temporary path keeps the suffix, by which libraries choose
    the format.

    Args:
        path: the file
        flush: wait until it is on the disk, where it survives a power cut
    """
    make_place(path)
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
        )
    except OSError as error:
        error.filename = str(path)  # nobody knows the temporary name
        raise
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())  # mkstemp hides files from everybody else
        if flush:
            _flush(temporary)
        temporary.replace(path)
        if flush:
            _flush_names(path.parent)
    except OSError as error:
        # A full disk forgets where it is, and nobody knows the temporary name.
        if error.filename in (None, name, temporary):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def make_place(path: Path) -> None:
    """Create the folder of a file, or raise an error before the work that the file is for."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", str(path))
    make_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Create a folder and those above it, if they are missing; their names survive a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        _flush_names(path.parent)


def leftovers(folder: Path, names: Iterable[str]) -> list[Path]:
    """The temporary files of :func:`replacing` in a folder, which killed processes leave behind.

    Args:
        folder: any
        names: the names of the files that they were to replace, or patterns of such names
    """
    paths = map(Path, names)
    return [found for path in paths for found in folder.glob(f".{path.stem}-????????{path.suffix}")]


def sweep(folder: Path, names: Iterable[str]) -> None:
    """Delete :func:`leftovers`, in a folder that no other process writes to."""
    for path in leftovers(folder, names):
        path.unlink(missing_ok=True)


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length under their names; ``None`` becomes an empty field."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_text(path: Path, text: str, *, flush: bool = True) -> None:
    """Write text as UTF-8."""
    with replacing(path, flush=flush) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write plain values as indented JSON; NaN, which JSON does not have, is an error."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def write_jsonl(path: Path, rows: Iterable[Any], *, flush: bool = True) -> None:
    """Write plain values as JSON, one per line."""
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    write_text(path, text, flush=flush)


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_names(folder: Path) -> None:
    with suppress(OSError):  # not every file system can flush a folder
        _flush(folder)


def parse_json(text: str) -> Any:
    """Plain values from a JSON text; everything that is wrong with it is a :class:`ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its lists and objects are nested too deeply") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
