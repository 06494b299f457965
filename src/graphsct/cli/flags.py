"""Flags in the help of a command, and the library's errors in terms of the command's options.

A flag takes no value, so its help shows no type. The library names arguments as Python does:
``pass symmetrize=True``. Where the command has an option for the argument, its user reads
``pass --symmetrize``.
"""

from __future__ import annotations

import re
from functools import wraps
from typing import Any

import typer

from graphsct.errors import GraphsctError

__all__ = ["one_line", "plain_types", "speak_flags", "with_flags"]

#: Options whose names differ from those of the arguments that they set.
_OPTIONS = {
    "folder": ("work", "out"),
    "layers": ("layer",),
    "runs": ("seeds",),
    "storage": ("work", "out"),
}
#: Functions that a command or an option stands for.
_COMMANDS = {
    "graphsct.distributed.write_partition": (
        "'graphsct data partition NAME --parts 2 --out FOLDER'"
    ),
    "graphsct.nn.register": "--model FILE.py:NAME",
    "graphsct.remedies.leaderboard.compare_remedies": "'graphsct remedies compare'",
}
_MENTION = re.compile(
    r"(?P<function>[\w.]+)\([^()]*\)"
    r"|(?<![\w.])(?P<name>[a-z_]+)=(?P<value>\.\.\.|\[\.\.\.\]|'[^']*'|\"[^\"]*\"|[\w/-]+(?:\.\w+)*)"
)


def with_flags(message: str, params: list[Any]) -> str:
    """Write the arguments in a message as options of a command.

    Args:
        message: of an error of the library
        params: parameters of a Click command

    Example:
        >>> import typer
        >>> command = typer.Typer()
        >>> @command.command()
        ... def train(out: str = "", resume: bool = False): ...
        >>> params = typer.main.get_command(command).params
        >>> with_flags("use resume=True, resume=False, or another folder=...", params)
        'use --resume, --no-resume, or another --out'
    """
    options = {param.name: param for param in params if param.param_type_name == "option"}

    def translate(found: re.Match[str]) -> str:
        if found["function"]:
            return _COMMANDS.get(found["function"], found[0])
        names = (found["name"], *_OPTIONS.get(found["name"], ()))
        option = next((options[name] for name in names if name in options), None)
        if option is None:
            return found[0]
        if found["value"] == "False" and option.secondary_opts:
            return str(option.secondary_opts[0])
        value = "" if option.is_flag else found["value"].strip("\"'[].")
        return f"{option.opts[0]} {value}".rstrip()

    return _MENTION.sub(translate, message)


def one_line(error: Exception) -> str:
    """Describe an error in one line."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, GraphsctError | OSError):
        return str(error)
    found = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{found} (unexpected; 'graphsct --debug ...' shows where)"


def plain_types(params: list[Any]) -> list[Any]:
    """Let the help of a Click command show no type for its flags, and one word for lists.

    Args:
        params: parameters of the command, which are changed and returned
    """
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif getattr(param, "multiple", False) and param.metavar is None:
            param.metavar = "<str>"
    return params


def speak_flags(command: Any) -> None:
    """Let a Click command, and the commands in it, name options in the errors of the library."""
    for inner in getattr(command, "commands", {}).values():
        speak_flags(inner)
        inner.short_help = " ".join(inner.help.split()).partition(". ")[0].rstrip(".") + "."
    plain_types(command.get_params(typer.Context(command)))
    callback = command.callback
    if callback is None:
        return

    @wraps(callback)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return callback(*args, **kwargs)
        except GraphsctError as error:
            error.args = (with_flags(str(error), command.params),)
            raise

    command.callback = call
