"""The summary of the summary: what of the paper holds, in a few sentences, all counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphsct.paper.cell import DEEP
from graphsct.paper.report.findings import Effect, Finding, agreement, effect, exact
from graphsct.paper.tables import Row, Table

__all__ = ["verdict"]

#: Share of pairs in which SCT must help for its gains to hold in some, and in most.
_SOME, _MOST = 0.1, 0.5


def verdict(tables: Mapping[str, Table]) -> Iterator[Finding]:
    """What holds, if there are pairs of ours.

    Args:
        tables: by their plain names
    """
    depth, split = tables["depth"].rows, tables["heterophilic"].rows
    found = effect((*depth, *split))
    if not found.pairs:
        return
    sizes = tables["sizes"]
    deep = tuple(row for row in depth if row["depth"] >= DEEP)
    sides = {
        f"at {DEEP} and more layers": _beside(deep),
        "on the heterophilic sets": _beside(split),
    }
    beside = {where: means for where, means in sides.items() if None not in means}
    means = "; ".join(
        f"{where} by {base:+z.1f} points without SCT and {ours:+z.1f} with it"
        for where, (base, ours) in beside.items()
    )
    weak = all(base > max(ours, 0) for base, ours in beside.values())
    yield Finding(
        "What of the paper holds?",
        _answer(found),
        f"{exact(sizes)} of {len(sizes.rows)} models have its size to the digit. In the "
        f"{found.pairs} pairs of tables 1 and 2 that we ran, it prints a gain of "
        f"{found.paper_mean:+z.1f} points on "
        f"average. Where a model with SCT and its base are tuned alike, the gain is "
        f"{found.mean:+z.1f} points: SCT helps in {found.helps}, hurts in {found.hurts}, and in "
        f"{found.unclear} no difference can be shown. That is about runs in the settings found; "
        "another search finds others, and a gain of a point may go with them."
        + (f" Our accuracies differ from its own {means}." if beside else "")
        + (" So what it compares with is weaker than it need be." if beside and weak else ""),
    )


def _answer(found: Effect) -> str:
    share = found.helps / found.pairs
    if share >= _MOST:
        return "The models and most gains"
    return "The models and some gains" if share >= _SOME else "The models, hardly any gain"


def _beside(rows: tuple[Row, ...]) -> tuple[Any, Any]:
    """How far our means are from the printed numbers, without SCT and with it."""
    base, ours = (agreement(row for row in rows if row["sct"] is sct).mean for sct in (False, True))
    return base, ours
