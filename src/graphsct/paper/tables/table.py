"""A table as data: how its columns are shown, one dictionary a row, and what has to be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphsct.paper.paper import PaperTable

__all__ = ["Column", "Row", "Table"]

#: Plain values by name.
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """How a column is shown.

    Args:
        title: above it
        texts: formats with the row's names, such as ``"{ours:.1f} ± {std:.1f}"``; the first counts
            for which the row has all values, and a row that fits none is left empty
        right: whether it is a column of numbers

    Example:
        >>> column = Column("ours", ("{ours:.1f} ± {std:.1f}", "{ours:.1f}"))
        >>> column.show({"ours": 1.25, "std": None}), column.show({"ours": None, "std": None})
        ('1.2', '')
    """

    title: str
    texts: tuple[str, ...]
    right: bool = True

    def show(self, row: Mapping[str, Any]) -> str:
        """The text of a row."""
        for text in self.texts:
            try:
                return text.format_map(row)
            except (TypeError, ValueError):  # nothing is there, or it is of another type
                continue
        return ""


@dataclass(frozen=True)
class Table:
    """One table of ours.

    Args:
        title: what it shows
        columns: how its rows are shown
        rows: what is in it
        notes: what has to be said about it
        paper: the table of the paper that it stands beside
        parts: further tables that belong to it
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    paper: PaperTable | None = None
    parts: tuple[Table, ...] = ()

    def only(self, takes: Callable[[Row], bool]) -> Table:
        """The rows for which ``takes`` holds, here and in the parts; empty parts are left out."""
        parts = tuple(part.only(takes) for part in self.parts)
        rows = tuple(row for row in self.rows if takes(row))
        return replace(self, rows=rows, parts=tuple(part for part in parts if part.rows))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the rows as ``cells``."""
        head: dict[str, Any] = {"title": self.title}
        if self.paper is not None:
            paper = self.paper
            head |= {"table": f"table{paper.number}", "name": paper.name, "label": paper.label}
            head["unit"] = paper.unit
        parts = [part.to_dict() for part in self.parts]
        return {**head, "cells": list(self.rows), "notes": list(self.notes), "parts": parts}
