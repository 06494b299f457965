"""Saving a figure as PNG and SVG, with its data as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphsct.files import replacing, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save", "to_columns"]

_DPI = 200


def save(
    name: str, canvas: Figure, columns: Mapping[str, Sequence[Any]], folder: Path
) -> list[Path]:
    """Write a drawing as PNG and SVG and its data as CSV; call it inside ``styled``.

    Args:
        name: name of the files, without a suffix
        canvas: the drawing
        columns: the data, columns of equal length by name
        folder: created if it does not exist
    """
    paths = [folder / f"{name}.{suffix}" for suffix in ("png", "svg", "csv")]
    for path in paths[:2]:
        # Without a date and random ids, the same data give the same file.
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with replacing(path) as temporary:
            canvas.savefig(temporary, dpi=_DPI, metadata=metadata)
    write_csv(paths[2], columns)
    return paths


def to_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows with equal keys, at least one, into columns.

    Example:
        >>> to_columns([{"layer": 1, "norm": 0.5}, {"layer": 2, "norm": 0.25}])
        {'layer': [1, 2], 'norm': [0.5, 0.25]}
    """
    return {name: [row[name] for row in rows] for name in rows[0]}
