"""The command ``graphsct``: thin, so that it starts at once; each job imports what it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphsct import __version__
from graphsct.errors import GraphsctError

__all__ = ["app", "main"]

# Command -> the module that holds its Typer `app`, imported when the command is named.
_COMMANDS = {
    "bench": "graphsct.cli.bench",
    "data": "graphsct.cli.data",
    "demo": "graphsct.cli.demo",
    "diagnose": "graphsct.cli.diagnose",
    "explore": "graphsct.cli.explore",
    "figure": "graphsct.cli.figure",
    "report": "graphsct.cli.report",
    "reproduce": "graphsct.cli.reproduce",
    "search": "graphsct.cli.search",
    "train": "graphsct.cli.train",
}


class _Commands(TyperGroup):
    """Finds commands by the table above, and turns errors of ours into one line."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        command = typer.main.get_command(import_module(_COMMANDS[cmd_name]).app)
        command.name = cmd_name
        return command

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (GraphsctError, OSError) as error:
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            typer.echo(f"graphsct: {_message(error)}", err=True)
            raise typer.Exit(1) from error


def _message(error: GraphsctError | OSError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"graphsct {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measure, understand and control the smoothness of graph network features."""


def main() -> None:
    """Run the command."""
    app(prog_name="graphsct")
