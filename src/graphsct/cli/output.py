"""The output of commands: tables for people, JSON for machines."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphsct.cli.flags import one_line
from graphsct.errors import MissingExtraError
from graphsct.extras import require

if TYPE_CHECKING:
    from rich.console import Console

    from graphsct.pages.tables import Table

__all__ = [
    "available",
    "beside_results",
    "diverted",
    "logged",
    "print_files",
    "print_json",
    "print_table",
    "terminal",
]

_WIDEST = 1000


class _Lines(logging.Handler):
    """Prints messages on standard error, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(self.format(record), err=True)


@contextmanager
def logged() -> Iterator[None]:
    """Print the messages that the library logs."""
    logger, lines = logging.getLogger("graphsct"), _Lines(logging.INFO)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.setLevel(level)


def terminal(width: int | None = None) -> Console:
    """Standard output, which prints names as they are, brackets and colons included."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=width)


@contextmanager
def diverted(as_json: bool) -> Iterator[None]:
    """Send what a user's file prints to standard error, if JSON must be the only output."""
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
    from rich.text import Text

    console, grid = terminal(), table.to_rich()
    if title:
        console.print(Text(table.title, "bold"))
    # A line that is too long for the terminal can be read, a folded column cannot.
    whole = terminal(width=_WIDEST).measure(grid).maximum
    terminal(width=max(console.width, whole)).print(grid)
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


def available(name: str, module: str, extra: str) -> bool:
    """Whether an optional file can be written; ask before the work starts.

    If not, standard error says which extra installs the module that writes it.
    """
    try:
        require(module, extra)
    except MissingExtraError as error:
        typer.echo(f"{name} is left out: {error}", err=True)
        return False
    return True


@contextmanager
def beside_results(name: str, ctx: typer.Context) -> Iterator[None]:
    """Write a file about results that are on the disk already; report a failure and go on.

    Args:
        name: what is left out
        ctx: the call; with ``--debug`` an error is raised
    """
    try:
        yield
    except Exception as error:
        if ctx.find_root().params.get("debug"):
            raise
        typer.echo(f"{name} is left out: {one_line(error)}", err=True)
