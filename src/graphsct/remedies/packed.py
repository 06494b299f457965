"""The stored cells of the leaderboard: one compressed file per data set and model."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.extras import stored_results
from graphsct.files import replacing
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.standings import boards

__all__ = ["pack", "read_packed"]

_SUFFIX = ".jsonl.gz"
_DIGITS = 3
_SCORES = ("test_score", "val_score")  # with one digit more: a hundredth of a point


def pack(cells: Sequence[BoardCell], folder: Path | None = None) -> list[Path]:
    """Write cells, one per line, with scores of four digits and all other numbers of three.

    The same cells give the same bytes.

    Args:
        cells: the cells
        folder: folder of the files, that of the stored results by default; files of other data
            sets and models stay

    Returns:
        The files, one per data set and model
    """
    folder, written = folder or stored_results("remedies"), []
    for own in boards(cells).values():
        path = folder / f"{own[0].key.board}{_SUFFIX}"
        ordered = sorted(own, key=lambda cell: (cell.key.depth, cell.key.remedy))
        lines = (json.dumps(_short(cell.to_dict()), separators=(",", ":")) for cell in ordered)
        text = "".join(f"{line}\n" for line in lines)
        with replacing(path) as temporary:
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
        written.append(path)
    return written


def read_packed(folder: Path | None = None) -> list[BoardCell]:
    """All cells that :func:`pack` wrote into a folder, or all stored ones."""
    folder = folder or stored_results("remedies")
    return [cell for path in sorted(folder.glob(f"[!.]*{_SUFFIX}")) for cell in _read(path)]


def _read(path: Path) -> list[BoardCell]:
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        return [BoardCell.from_json(line) for line in lines]
    except (OSError, EOFError, ValueError) as error:
        raise ExperimentError(
            f"{path} is not a file of packed cells: {error}; pack them again"
        ) from error


def _short(value: Any, name: str = "") -> Any:
    """Plain values with fewer digits."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS + (name in _SCORES)}g}")
    if isinstance(value, dict):
        return {key: _short(inner, key) for key, inner in value.items()}
    return [_short(inner) for inner in value] if isinstance(value, list) else value
