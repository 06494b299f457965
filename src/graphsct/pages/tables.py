"""Tables as ``table.html`` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Field", "Head", "table_view"]


@dataclass(frozen=True)
class Field:
    """One cell of an HTML table: text, CSS class, a sign before the text, and where it leads."""

    text: str
    kind: str = ""
    sign: str = ""
    link: str = ""


@dataclass(frozen=True)
class Head:
    """The head of a column: its title, and whether numbers stand below."""

    title: str
    right: bool = True


def table_view(
    heading: str, columns: Sequence[Head], rows: Sequence[Sequence[str | Field]]
) -> dict[str, Any]:
    """A table with a heading that says what it shows, its first column naming the rows."""
    fields = [[Field(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return {
        "heading": heading,
        "columns": columns,
        "rows": fields,
        "starts": [False] * len(fields),
    }
