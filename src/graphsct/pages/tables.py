"""One type of table, shown on the terminal, as Markdown, as HTML and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.table import Table as Grid

__all__ = ["Column", "Field", "Table"]

Row = TypeVar("Row", bound="DataclassInstance")

_STYLES = {"better": "green", "worse": "red", "missing": "dim"}
_SIGNS = {"better": "▲", "level": "~", "worse": "▼"}
_WIDEST = 1000  # letters of a line
_TITLE = 11  # letters after which a title wraps on the terminal, if its column is not wider


@dataclass(frozen=True)
class Field:
    """One cell of a table.

    Args:
        text: its text
        kind: ``better``, ``worse``, ``level`` or ``missing``, for a colour
        sign: sign before the text in HTML, for readers who do not see the colour; defaults to that
            of the kind
        link: target of a link in HTML
        long: replaces the text in HTML, where there is room
    """

    text: str
    kind: str = ""
    sign: str | None = None
    link: str = ""
    long: str = ""

    def __post_init__(self) -> None:
        if self.sign is None:
            object.__setattr__(self, "sign", _SIGNS.get(self.kind, ""))


@dataclass(frozen=True)
class Column(Generic[Row]):
    """How one column shows a row.

    Args:
        title: its heading; a hyphen and a newline in it break the line on the terminal only
        show: a template with attributes of the row, such as ``"{ours:.1f} ± {std:.1f}"``; several
            templates, of which the first without a missing value is used; or a function of the row
        right: whether to align to the right, as numbers

    Example:
        >>> from types import SimpleNamespace
        >>> column = Column("ours", ("{ours:.1f} ± {std:.1f}", "{ours:.1f}"))
        >>> column.text(SimpleNamespace(ours=1.25, std=None))
        '1.2'
        >>> column.text(SimpleNamespace(ours=None, std=None))
        ''
    """

    title: str
    show: str | tuple[str, ...] | Callable[[Row], str | Field]
    right: bool = True

    @property
    def heading(self) -> str:
        """The title on one line."""
        return self.title.replace("-\n", "")

    def field(self, row: Row) -> Field:
        """Return the cell of a row, which is empty if no template fits."""
        if callable(self.show):
            shown = self.show(row)
            return shown if isinstance(shown, Field) else Field(shown)
        for template in (self.show,) if isinstance(self.show, str) else self.show:
            try:
                return Field(template.format_map(_Attributes(row)))
            except (TypeError, ValueError):  # the value is None, or of another type
                continue
            except AttributeError as error:
                if error.obj is not None:  # a misspelt name, not an attribute of None
                    raise
        return Field("")

    def text(self, row: Row) -> str:
        """Return the text of the cell of a row."""
        return self.field(row).text


class _Attributes:
    """The attributes of a row as a mapping for templates."""

    def __init__(self, row: Any) -> None:
        self._row = row

    def __getitem__(self, name: str) -> Any:
        return getattr(self._row, name)


@dataclass(frozen=True)
class Table(Generic[Row]):
    """Rows of one dataclass, and how they are shown.

    Args:
        title: its heading
        columns: how rows are shown; the first one names the row
        rows: the data
        notes: remarks below the table
        parts: further tables that belong to it
        sections: attributes of a row; a new section begins where one of them changes
        about: further facts for :meth:`to_dict`
    """

    title: str
    columns: tuple[Column[Row], ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    parts: tuple[Table[Any], ...] = ()
    sections: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def only(self, takes: Callable[[Any], bool]) -> Table[Row]:
        """Keep the rows for which ``takes`` holds, here and in the parts, and drop empty parts."""
        parts = tuple(part.only(takes) for part in self.parts)
        rows = tuple(row for row in self.rows if takes(row))
        return replace(self, rows=rows, parts=tuple(part for part in parts if part.rows))

    def fields(self) -> list[list[Field]]:
        """Return the cells of all rows."""
        return [[column.field(row) for column in self.columns] for row in self.rows]

    def starts(self) -> set[int]:
        """Return the indices of the rows that begin a new section."""
        return self._changes(self.sections)

    def _changes(self, names: tuple[str, ...]) -> set[int]:
        places = [tuple(getattr(row, name) for name in names) for row in self.rows]
        return {number for number, (one, other) in enumerate(pairwise(places), 1) if one != other}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the rows as ``cells``."""
        return {
            "title": self.title,
            **self.about,
            "cells": [asdict(row) for row in self.rows],
            "notes": list(self.notes),
            "parts": [part.to_dict() for part in self.parts],
        }

    def to_markdown(self, level: int = 2) -> str:
        """Return the table under a heading, its notes as a list, then its parts."""
        lines = [f"{'#' * level} {self.title}", ""]
        lines.append(_line([column.heading for column in self.columns]))
        lines.append(_line(["---:" if column.right else "---" for column in self.columns]))
        lines += [_line([each.text for each in row]) for row in self.fields()]
        lines += ["", *(f"- {note.removeprefix('* ')}" for note in self.notes)]
        parts = [part.to_markdown(level + 1) for part in self.parts]
        return "\n\n".join(["\n".join(lines).rstrip(), *parts])

    def _repr_html_(self) -> str:
        from graphsct.pages import render

        own = render("notebook.html", title=self.title, lines=(), table=self)
        return "\n".join([own, *(part._repr_html_() for part in self.parts)])

    def __str__(self) -> str:
        from rich.console import Console
        from rich.text import Text

        console = Console(width=_WIDEST, color_system=None)
        with console.capture() as capture:
            console.print(Text(self.title), self.to_rich(), *map(Text, self.notes), sep="\n")
        own = "\n".join(line.rstrip() for line in capture.get().splitlines())
        return "\n\n".join([own, *map(str, self.parts)])

    def to_rich(self) -> Grid:
        """Return columns and rows for the terminal, without title, notes and parts."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        fields, starts = self.fields(), self._long_sections()
        for place, column in enumerate(self.columns):
            title = column.title
            if "\n" not in title:
                widest = max((len(row[place].text) for row in fields), default=0)
                title = textwrap.fill(title, max(_TITLE, widest))
            grid.add_column(Text(title), justify="right" if column.right else "left", no_wrap=True)
        for number, row in enumerate(fields, 1):
            texts = (Text(each.text, _STYLES.get(each.kind, "")) for each in row)
            grid.add_row(*texts, end_section=number in starts)
        return grid

    def _long_sections(self) -> set[int]:
        """Starts of sections on the terminal, if these have at least four rows on average."""
        for names in (self.sections, self.sections[:1]):
            starts = self._changes(names)
            if 4 * (len(starts) + 1) <= len(self.rows):
                return starts
        return set()


def _line(texts: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"
