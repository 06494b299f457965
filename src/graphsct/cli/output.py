"""What a command prints for machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from graphsct.errors import MissingExtraError

__all__ = ["print_files", "print_json", "write_page"]


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on one line; NaN, which JSON does not know, is refused."""
    typer.echo(json.dumps(value, allow_nan=False))


def print_files(paths: Iterable[Path], as_json: bool, **more: Any) -> None:
    """The files that were written, one a line, or as ``files`` of an object with ``more``."""
    if as_json:
        print_json({**more, "files": [str(path) for path in paths]})
        return
    for path in paths:
        typer.echo(path)


def write_page(path: Path, write: Callable[[], object]) -> list[Path]:
    """Write the page beside other results, or say on standard error which extra it needs.

    Args:
        path: of the page
        write: writes it
    """
    try:
        write()
    except MissingExtraError as error:
        typer.echo(f"{path.name} is left out: {error}", err=True)
        return []
    return [path]
