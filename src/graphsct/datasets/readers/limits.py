"""The most that one file of a user may take in memory, so that a small file cannot fill it."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

from graphsct.errors import DataError

__all__ = ["MAX_BYTES", "check_bytes", "check_unpacked", "max_bytes"]

#: Bytes of one file after unpacking, unless ``GRAPHSCT_MAX_BYTES`` names another number.
MAX_BYTES = 4 * 2**30
_CHUNK = 2**20


def max_bytes() -> int:
    """``GRAPHSCT_MAX_BYTES``, else :data:`MAX_BYTES`."""
    given = os.environ.get("GRAPHSCT_MAX_BYTES", str(MAX_BYTES))
    if not given.isdecimal():
        raise DataError(f"GRAPHSCT_MAX_BYTES is {given!r}, expected a number of bytes")
    return int(given)


def check_bytes(path: Path, count: int) -> None:
    """Refuse a file whose content takes more bytes than the limit.

    Args:
        path: the file
        count: the bytes that its content takes, or those known so far
    """
    if count > max_bytes():
        raise DataError(
            f"{path} takes more than {max_bytes()} bytes of memory; if that is right, set "
            "GRAPHSCT_MAX_BYTES to a larger number"
        )


def check_unpacked(path: Path) -> None:
    """Refuse a ``.gz`` or ``.npz`` that unpacks to more bytes than the limit."""
    if path.suffix == ".gz":
        count = 0
        with gzip.open(path) as file:
            while chunk := file.read(_CHUNK):
                count += len(chunk)
                check_bytes(path, count)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            check_bytes(path, sum(entry.file_size for entry in archive.infolist()))
