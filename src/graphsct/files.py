"""Atomic writes: a file is either complete or does not exist."""

from __future__ import annotations

import csv
import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["replacing", "write_csv", "write_json", "write_jsonl", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, whose file replaces ``path`` if no error occurs.

    Missing folders are created. The temporary path keeps the suffix, by which libraries choose
    the format.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
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
        temporary.replace(path)
    except OSError as error:
        # A full disk forgets where it is, and nobody knows the temporary name.
        if error.filename in (None, name, temporary):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length under their names; ``None`` becomes an empty field."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write plain values as indented JSON; NaN, which JSON does not have, is an error."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write plain values as JSON, one per line."""
    write_text(path, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
