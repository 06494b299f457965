"""Python files of a user, executed because the user named them."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import ModuleType

from graphsct.errors import GraphsctError

__all__ = ["execute", "explain", "is_file"]


def is_file(name: str) -> bool:
    """Whether a name refers to something in a Python file, as ``my_model.py:Net`` does."""
    return name.endswith(".py") or ".py:" in name


def execute(place: str | Path, error: type[GraphsctError]) -> ModuleType:
    """Execute a file as Python would; its module has the whole path as its name.

    Args:
        place: the file
        error: the exception to raise if it is missing or fails
    """
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise error(f"there is no file {place}")
    module = ModuleType(str(path))
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses, for example, look their module up
    sys.path.insert(0, str(path.parent))
    try:
        # An import would read a stale .pyc file if the source changed within a second.
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except (Exception, SystemExit) as cause:
        del sys.modules[module.__name__]
        raise error(f"{place}{_line(cause, path)}: {explain(cause)}") from cause
    finally:
        sys.path.remove(str(path.parent))
    return module


def _line(error: BaseException, path: Path) -> str:
    """The line of the file where an error arose, if it is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""


def explain(error: BaseException) -> str:
    """An error in one line, with its kind unless it is one of ours."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    kind = "" if isinstance(error, GraphsctError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{text}".split())
