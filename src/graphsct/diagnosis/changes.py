"""Two diagnoses side by side: each measure of each layer before and after a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from graphsct.diagnosis.scalars import layer_columns
from graphsct.pages.tables import Column, Field, Table

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["BeforeAfter", "ChangeRow", "change_table"]


@dataclass(frozen=True)
class BeforeAfter:
    """A value before and after, ``None`` where there is none."""

    before: Any
    after: Any


@dataclass(frozen=True)
class ChangeRow:
    """The changes of a layer.

    Args:
        number: from 1 on
        measures: values by the names of :meth:`~graphsct.diagnosis.Diagnosis.to_frame`
    """

    number: int
    measures: dict[str, BeforeAfter]


def change_table(before: Diagnosis, after: Diagnosis) -> Table[ChangeRow]:
    """Return the measures of both diagnoses, with layers matched by their numbers."""
    columns = layer_columns(before), layer_columns(after)
    changes = {
        name: [BeforeAfter(*pair) for pair in zip_longest(*(side[name] for side in columns))]
        for name in columns[0]
    }
    rows = tuple(
        ChangeRow(number, {name: values[number - 1] for name, values in changes.items()})
        for number in range(1, max(len(before.layers), len(after.layers)) + 1)
    )
    title = f"{before.model} on {before.data} → {after.model} on {after.data}"
    note = "→: before and after; a single value is the same in both, to the digits shown"
    return Table(title, _COLUMNS, rows, (note,))


def _pair(name: str, template: str) -> Callable[[ChangeRow], str]:
    def show(row: ChangeRow) -> str:
        change = row.measures[name]
        texts = ["–" if v is None else template.format(v) for v in (change.before, change.after)]
        return " → ".join(dict.fromkeys(texts))

    return show


def _state(row: ChangeRow) -> Field:
    change, text = row.measures["state"], _pair("state", "{}")(row)
    was, now = change.before == "ok", change.after == "ok"
    if None in (change.before, change.after) or was == now:
        return Field(text)
    return Field(text, "better" if now else "worse")


_COLUMNS: tuple[Column[ChangeRow], ...] = (
    Column("", "{number:d}"),
    Column("layer", _pair("name", "{}"), right=False),
    Column("state", _state, right=False),
    Column("s, median", _pair("smoothness", "{:.3f}")),
    Column("dead", _pair("dead", "{:d}")),
    Column("rank", _pair("effective_rank", "{:.1f}")),
    Column("rank of contrast", _pair("contrast_rank", "{:.1f}")),
    Column("contrast", _pair("contrast", "{:.2g}")),
    Column("norm", _pair("norm", "{:.2g}")),
    Column("gradient", _pair("gradient_norm", "{:.2g}")),
)
