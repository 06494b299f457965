"""Cells below the paper's number, and possible reasons on our side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphsct.pages.tables import Column, Table
from graphsct.paper.tables.rows import DATA, MODEL, AccuracyRow

__all__ = ["ShortRow", "shortfalls"]


@dataclass(frozen=True, kw_only=True)
class ShortRow(AccuracyRow):
    """An accuracy below the paper's.

    Args:
        short: how far ours is below the printed number
        base_short: the same for its base, in a row with SCT whose base has runs
        reason: a possible reason
    """

    short: float
    base_short: float | None
    reason: str


_COLUMNS: tuple[Column[ShortRow], ...] = (
    DATA,
    MODEL,
    Column("layers", ("{depth:d}", "{our_depth:d} (found)")),
    Column("activation", "{activation:s}", right=False),
    Column("shortfall", "{short:.1f}"),
    Column("shortfall of its base", "{base_short:.1f}"),
    Column("possible reason", "{reason:s}", right=False),
)
_NOTE = (
    "shortfall: the paper's number minus ours; negative if ours is above. If the shortfall of the "
    "base is at least half as large, training explains more than the term."
)
#: If the base has at least this share of a shortfall, training is the reason.
_MOST = 0.5


def shortfalls(rows: Sequence[AccuracyRow]) -> tuple[Table[ShortRow], ...]:
    """Return one table of the rows whose verdict is ``below``, none if there are none."""
    bases = {(row.dataset, row.model, row.depth): row.difference for row in rows if not row.sct}
    found = []
    for row in rows:
        if row.verdict != "below" or row.difference is None:
            continue
        base = bases.get((row.dataset, row.model, row.depth)) if row.sct else None
        short, base_short = -row.difference, None if base is None else -base
        reason = "; ".join(_reasons(row, short, base_short))
        found.append(ShortRow(**vars(row), short=short, base_short=base_short, reason=reason))
    columns = _COLUMNS
    if len({row.activation for row in rows}) == 1:
        columns = tuple(column for column in _COLUMNS if column.title != "activation")
    title, sections = "Cells below the paper, and possible reasons", ("dataset", "model")
    return (Table(title, columns, tuple(found), (_NOTE,), sections=sections),) if found else ()


def _reasons(row: AccuracyRow, short: float, base_short: float | None) -> list[str]:
    reasons = []
    if base_short is not None:
        if base_short >= _MOST * short:
            reasons.append("its base is below the paper too: training explains more than the term")
        elif row.gain and row.gain.verdict == "hurts":
            reasons.append("the term makes its own base worse")
        else:
            reasons.append("we do not find the gain that the paper prints")
    elif row.paper_std is None and row.depth is not None and not row.sct:
        reasons.append("the paper copied the number from another paper")
    if row.unreached:
        reasons.append(f"its search could not reach the reference's {', '.join(row.unreached)}")
    if row.our_trials is not None:
        channels = f", at most {row.our_limit} channels" if row.our_limit else ""
        reasons.append(f"{row.our_trials} trials{channels}")
    return reasons
