"""The output of commands: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphsct.errors import MissingExtraError

if TYPE_CHECKING:
    from graphsct.pages.tables import Table

__all__ = ["diverted", "optional", "print_files", "print_json", "print_table", "write_page"]

_WIDEST = 1000


@contextmanager
def diverted(as_json: bool) -> Iterator[None]:
    """Send the prints of a user's file to standard error, if JSON is to be the only output."""
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        yield


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on one line; NaN, which JSON does not have, is refused."""
    typer.echo(json.dumps(value, allow_nan=False))


def print_table(table: Table[Any], *, title: bool = True) -> None:
    """Print a table, its notes and its parts.

    Args:
        table: any
        title: whether to print its title
    """
    from rich.console import Console
    from rich.text import Text

    console, grid = Console(highlight=False), table.to_rich()
    if title:
        console.print(Text(table.title, "bold"))
    # A line that is too long for the terminal can be read, a folded column cannot.
    whole = Console(width=_WIDEST).measure(grid).maximum
    Console(highlight=False, width=max(console.width, whole)).print(grid)
    console.print()
    for note in table.notes:
        console.print(Text(note))
    for part in table.parts:
        console.print()
        print_table(part)


def print_files(paths: Iterable[Path], as_json: bool, **more: Any) -> None:
    """Print the written files, one per line, or as ``files`` of a JSON object with ``more``."""
    if as_json:
        print_json({**more, "files": [str(path) for path in paths]})
        return
    for path in paths:
        typer.echo(path)


@contextmanager
def optional(name: str) -> Iterator[None]:
    """Write a file beside other results, or say on standard error which extra it needs."""
    try:
        yield
    except MissingExtraError as error:
        typer.echo(f"{name} is left out: {error}", err=True)


def write_page(path: Path, write: Callable[[], object]) -> list[Path]:
    """Write a page beside other results, if its extra is installed.

    Args:
        path: the page
        write: writes it
    """
    with optional(path.name):
        write()
        return [path]
    return []
