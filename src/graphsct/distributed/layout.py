"""A partitioned data set on disk: one folder, one memory-mapped file a process.

``partition.json`` says what the whole is and has the SHA256 of every ``part-I.safetensors``. It is
written last, so a folder that has it is whole. A process reads this file and its own part only.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
from torch import Tensor

from graphsct.errors import DataError

__all__ = ["FORMAT", "HEADER", "Layout", "Piece", "checksum", "name_of"]

FORMAT, HEADER = 1, "partition.json"
_WAY_OUT = "write it again with graphsct.distributed.write_partition(data, folder, parts)"


class Piece(NamedTuple):
    """What a process gets.

    Args:
        sha256: of its file
        nodes: rows of the operator
        entries: of these rows that are not zero, self-loops included
        halo: nodes of other processes that its own have edges to
    """

    sha256: str
    nodes: int
    entries: int
    halo: int


@dataclass(frozen=True)
class Layout:
    """What ``partition.json`` says.

    Args:
        name: of the data
        method: how nodes were divided
        nodes: of the whole graph
        edges: undirected, without self-loops
        components: of the whole graph
        crossing: how many of them are in more than one part
        features: of a node
        values: of sparse features that are stored, ``None`` if they are dense
        classes: how many
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
        """Read ``partition.json``, or say what is wrong with it."""
        path = Path(folder) / HEADER
        if not path.is_file():
            raise DataError(
                f"{Path(folder)} is not a partitioned data set, it has no {HEADER}; write one with "
                "graphsct.distributed.write_partition(data, folder, parts)"
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values["format"] != FORMAT:
                raise DataError(f"{path} has format {values['format']}, not {FORMAT}; {_WAY_OUT}")
            values["parts"] = tuple(Piece(**piece) for piece in values["parts"])
            values["train"] = tuple(values["train"])
            return cls(**{field.name: values[field.name] for field in fields(cls)})
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path} is damaged or not of graphsct; {_WAY_OUT}") from error

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in the file."""
        parts = [piece._asdict() for piece in self.parts]
        return {"format": FORMAT, **asdict(self), "parts": parts}

    @property
    def sha256(self) -> str:
        """Of everything: equal for two layouts only if all their files are."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def open(self, folder: str | os.PathLike[str], part: int) -> dict[str, Tensor]:
        """The arrays of a part, mapped into memory, after a look at their checksum."""
        path = Path(folder) / name_of(part)
        if not path.is_file():
            raise DataError(f"{path} is missing; {_WAY_OUT}, or copy it here")
        found, expected = checksum(path), self.parts[part].sha256
        if found != expected:
            raise DataError(
                f"{path} is not the file that {HEADER} means: its SHA256 is {found[:16]}..., "
                f"expected {expected[:16]}...; copy the folder again, or {_WAY_OUT}"
            )
        with safetensors.safe_open(path, "pt") as file:
            names = list(file.keys())
            return {name: file.get_tensor(name) for name in names}


def name_of(part: int) -> str:
    """The file of a part."""
    return f"part-{part}.safetensors"


def checksum(path: Path) -> str:
    """SHA256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
