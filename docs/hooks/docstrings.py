"""Docstrings are written with Sphinx's roles; mkdocstrings reads Markdown."""

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"^( *)\.\. math::\n((?:\1 +.*\n?|\n(?=\1 ))+)", flags=re.MULTILINE)
_EXAMPLE = re.compile(r"^( *)Example:$", flags=re.MULTILINE)
_ROLE = re.compile(r":(math|class|func|meth|attr|data|mod):`([^`]+)`")
_LINK = re.compile(r"`([^`<]+?)\s+<(https?://[^>\s]+)>`__?")
# Functions that have the name of their module, which hides them from static analysis.
_HOMES = {
    "graphsct.datasets.load": "graphsct.datasets.load.load",
    "graphsct.distributed.fit": "graphsct.distributed.fit.fit",
    "graphsct.geometry.sphere": "graphsct.geometry.sphere.sphere",
}


class Docstrings(griffe.Extension):
    """Formulas, links and examples of docstrings as Markdown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object that has one."""
        if obj.is_alias or obj.docstring is None:
            return
        text = _BLOCK.sub(_display, _EXAMPLE.sub(r"\1Examples:", obj.docstring.value))
        text = _LINK.sub(_link, text)
        obj.docstring.value = _ROLE.sub(lambda found: _inline(found, obj), text)


def _display(found: re.Match[str]) -> str:
    indent, body = found.groups()
    lines = [indent + line.strip() for line in body.strip().splitlines()]
    return "\n".join([f"{indent}\\[", *lines, f"{indent}\\]", ""])


def _link(found: re.Match[str]) -> str:
    text, address = found.groups()
    return f"[{' '.join(text.split())}]({address})"


def _inline(found: re.Match[str], obj: Any) -> str:
    role, text = found.groups()
    text = " ".join(text.split())
    if role == "math":
        return rf"\({text}\)"
    path = text.removeprefix("~")
    shown = path.rpartition(".")[2] if text.startswith("~") else path
    if role == "data":  # a constant has no heading to link to
        return f"`{shown}`"
    if not path.startswith("graphsct"):
        try:
            path = obj.resolve(path)
        except griffe.NameResolutionError:
            return f"`{shown}`"
    path = _HOMES.get(path, path)
    return f"[`{shown}`][{path}]" if path.startswith("graphsct.") else f"`{shown}`"
