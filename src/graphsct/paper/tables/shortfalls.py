"""Cells that are below the paper's number, and what of our side may explain it."""

from __future__ import annotations

from collections.abc import Sequence

from graphsct.paper.tables.table import Column, Row, Table

__all__ = ["shortfalls"]

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("model", ("{model_title:s}",), right=False),
    Column("layers", ("{depth:d}", "{our_depth:d} (found)")),
    Column("activation", ("{activation:s}",), right=False),
    Column("short by", ("{short:.1f}",)),
    Column("its base by", ("{base_short:.1f}",)),
    Column("why", ("{reason:s}",), right=False),
)
_NOTE = (
    "its base by: how far the base model is below the paper's number for it; less than zero is "
    "above. If it is at least half as much, the way of training is the reason before the term is."
)
#: Share of a shortfall that the base must have for the way of training to be the reason.
_MOST = 0.5


def shortfalls(rows: Sequence[Row]) -> tuple[Table, ...]:
    """One table of the rows whose verdict is ``below``, none if there are none."""
    bases = {
        (row["dataset"], row["model"], row["depth"]): row["difference"]
        for row in rows
        if not row["sct"]
    }
    found = []
    for row in rows:
        if row["verdict"] != "below":
            continue
        place = row["dataset"], row["model"], row["depth"]
        base = bases.get(place) if row["sct"] else None
        short, base_short = -row["difference"], None if base is None else -base
        reason = "; ".join(_reasons(row, short, base_short))
        found.append({**row, "short": short, "base_short": base_short, "reason": reason})
    columns: tuple[Column, ...] = _COLUMNS
    if len({row["activation"] for row in rows}) == 1:
        columns = tuple(column for column in _COLUMNS if column.title != "activation")
    title = "Below the paper, and what may explain it"
    return (Table(title, columns, tuple(found), (_NOTE,)),) if found else ()


def _reasons(row: Row, short: float, base_short: float | None) -> list[str]:
    reasons = []
    if base_short is not None:
        if base_short >= _MOST * short:
            reasons.append("its base is short too: the training more than the term")
        elif row["gain"] and row["gain"]["verdict"] == "hurts":
            reasons.append("the term makes its own base worse")
        else:
            reasons.append("the gain that the paper prints is not there")
    elif row["paper_std"] is None and row["depth"] is not None and not row["sct"]:
        reasons.append("the paper copied it from elsewhere")
    if row["our_trials"] is not None:
        channels = f", at most {row['our_limit']} channels" if row["our_limit"] else ""
        reasons.append(f"{row['our_trials']} trials{channels}")
    return reasons
