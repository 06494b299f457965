"""The command ``graphsct``. It starts fast, because each command imports only its own modules."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphsct.cli.flags import one_line, plain_types, speak_flags
from graphsct.cli.output import logged
from graphsct.names import nearest

__all__ = ["CONTENTS", "app", "main"]

#: Commands by purpose, each with its description. `graphsct.cli.NAME` has its Typer `app` and is
#: imported when the command is called.
CONTENTS = {
    "Look": {
        "demo": "See a deep network fail, the reason, and what helps.",
        "diagnose": "Find out what is wrong in which layer of a model.",
        "explore": "Write an interactive page about smoothness.",
        "remedies": "List, describe and compare what helps against over-smoothing.",
    },
    "Train and search": {
        "train": "Train a model on a data set with several seeds.",
        "search": "Find the best settings of a model by validation alone.",
        "plan": "Estimate the cost of training a large graph on many machines.",
    },
    "Reproduce the paper": {
        "reproduce": "Show a table of the paper beside our numbers, or train its cells.",
        "figure": "Draw a figure of the paper as PNG and SVG, with its data as CSV.",
        "report": "Write all tables and figures as one HTML page.",
    },
    "Data and tools": {
        "data": "List, verify, describe and divide the data sets.",
        "bench": "Time our epochs beside PyTorch Geometric's.",
    },
}

_EPILOG = """[bold]Exit codes[/]
  0    success
  1    failure, with the reason on standard error
  2    wrong usage
  130  interrupted (Ctrl-C)

'graphsct COMMAND --help' shows the options of a command, with examples."""


class _Commands(TyperGroup):
    """Finds commands in ``CONTENTS``, and turns errors into one line and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for lines in CONTENTS.values() for name in lines]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for panel, lines in CONTENTS.items():
            if cmd_name in lines:
                command = typer.main.get_command(import_module(f"graphsct.cli.{cmd_name}").app)
                speak_flags(command)
                command.name, command.short_help = cmd_name, lines[cmd_name]
                command.rich_help_panel = panel  # type: ignore[attr-defined]
                return command
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        names = self.list_commands(ctx)
        if args[0] not in names and not ctx.resilient_parsing:
            ctx.fail(f"there is no command {args[0]!r}{nearest(args[0], names)}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        return plain_types(super().get_params(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the options; ``--help`` and ``--version`` print here, which may fail."""
        try:
            return super().make_context(*args, **kwargs)
        except OSError as error:
            if _is_for_typer(error):
                raise
            raise _explained(error) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            with logged():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            typer.echo("graphsct: interrupted", err=True)
            raise typer.Exit(130) from error
        except Exception as error:
            if ctx.params["debug"] or _is_for_typer(error):
                raise
            raise _explained(error) from error


def _explained(error: Exception) -> typer.Exit:
    """Print an error as one line."""
    typer.echo(f"graphsct: {one_line(error)}", err=True)
    _drop_output()
    return typer.Exit(1)


def _is_for_typer(error: Exception) -> bool:
    """Whether Typer handles the error: an exit, wrong usage, or a closed pipe."""
    return hasattr(error, "exit_code") or isinstance(error, typer.Abort | BrokenPipeError)


def _drop_output() -> None:
    """Discard output that cannot be written, or Python would fail again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False, epilog=_EPILOG
)


def _print_version(value: bool) -> None:
    if value:
        from graphsct import __version__

        typer.echo(f"graphsct {__version__}")
        raise typer.Exit


@app.callback()
def start(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measure, understand and control the smoothness of graph network features."""


def main() -> None:
    """Run the command; characters that the terminal cannot show are printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="graphsct")
