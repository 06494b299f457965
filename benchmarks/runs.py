"""Runs of benchmarks: lines of JSON in a file while they are made, a table of CSV when stored."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["add_lines", "read_lines", "read_stored", "store"]

Row = dict[str, Any]


def read_lines(path: Path) -> list[Row]:
    """The runs in a file of lines; none if there is no file."""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            where = f"line {len(rows) + 1} of {path}"
            raise SystemExit(f"{where} is not a whole run; delete that line") from None
    return rows


def add_lines(path: Path, rows: Iterable[Row]) -> None:
    """Add runs to a file of lines, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{json.dumps(row)}\n" for row in rows))


def read_stored(path: Path, numbers: Mapping[str, type]) -> list[Row]:
    """The runs in a table; an empty number is ``None``."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            row | {name: kind(row[name]) if row[name] else None for name, kind in numbers.items()}
            for row in csv.DictReader(file)
        ]


def store(path: Path, rows: Iterable[Row], columns: Sequence[str], key: Sequence[str]) -> None:
    """Write a table of some columns; of several runs with the same key the last one counts."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({tuple(row[name] for name in key): row for row in rows}.values())
