"""A partitioned data set on disk: one folder, with one memory-mapped file per process.

``partition.json`` describes the whole and has the SHA256 of every ``part-I.safetensors``. It is
written last, so a folder with this file is complete. A process reads only it and its own part.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
from torch import Tensor

from graphsct.errors import DataError
from graphsct.files import parse_json
from graphsct.records import Record

__all__ = ["FORMAT", "HEADER", "Layout", "Piece", "checksum", "name_of"]

#: The format that is written: since 2, the nodes of a part may stand in any order.
FORMAT, HEADER = 2, "partition.json"
_READ = (1, FORMAT)
_WAY_OUT = "write it again with graphsct.distributed.write_partition(data, folder, parts)"


class Piece(NamedTuple):
    """The part of one process.

    Args:
        sha256: checksum of its file
        nodes: number of rows of the operator
        entries: number of nonzero entries in these rows, self-loops included
        halo: number of neighbours that belong to other processes
    """

    sha256: str
    nodes: int
    entries: int
    halo: int


@dataclass(frozen=True)
class Layout(Record, error=DataError):
    """The content of ``partition.json``.

    Args:
        name: name of the data
        method: how nodes were divided
        nodes: number of nodes of the whole graph
        edges: number of undirected edges, without self-loops
        components: number of components of the whole graph
        crossing: number of components in more than one part
        features: number of features of a node
        values: number of stored values of sparse features, ``None`` if they are dense
        classes: number of classes
        train: number of training nodes in each split
        parts: one for each process
    """

    name: str
    method: str
    nodes: int
    edges: int
    components: int
    crossing: int
    features: int
    values: int | None
    classes: int
    train: tuple[int, ...]
    parts: tuple[Piece, ...]

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Layout:
        """Read the ``partition.json`` of a folder."""
        path = Path(folder) / HEADER
        if not path.is_file():
            raise DataError(
                f"{Path(folder)} is not a partitioned data set, it has no {HEADER}; write one with "
                "graphsct.distributed.write_partition(data, folder, parts)"
            )
        try:
            values = parse_json(path.read_text(encoding="utf-8"))
            if isinstance(values, dict) and values.get("format") not in _READ:
                raise DataError(f"it has format {values.get('format')}, not {FORMAT}")
            return cls.from_dict(values)
        except ValueError as error:
            raise DataError(
                f"{path} is damaged or was not written by graphsct: {error}; {_WAY_OUT}"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """The content of the file, which begins with the number of its format."""
        return {"format": FORMAT, **super().to_dict()}

    @property
    def sha256(self) -> str:
        """The checksum of everything: equal for two layouts only if all their files are."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def open(self, folder: str | os.PathLike[str], part: int) -> dict[str, Tensor]:
        """The arrays of a part, mapped into memory, once their checksum is verified."""
        path = Path(folder) / name_of(part)
        if not 0 <= part < len(self.parts):
            raise DataError(f"{folder} has {len(self.parts)} parts; {part} is not among them")
        if not path.is_file():
            raise DataError(f"{path} is missing; {_WAY_OUT}, or copy it here")
        found, expected = checksum(path), self.parts[part].sha256
        if found != expected:
            raise DataError(
                f"{path} is not the file that {HEADER} describes: its SHA256 is {found[:16]}..., "
                f"expected {expected[:16]}...; copy the folder again, or {_WAY_OUT}"
            )
        try:
            with safetensors.safe_open(path, "pt") as file:
                names = list(file.keys())
                return {name: file.get_tensor(name) for name in names}
        except safetensors.SafetensorError as error:
            raise DataError(f"{path} was not written by graphsct: {error}; {_WAY_OUT}") from error


def name_of(part: int | str) -> str:
    """The name of a part's file; with ``*`` the pattern of all of them."""
    return f"part-{part}.safetensors"


def checksum(path: Path) -> str:
    """The SHA256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
