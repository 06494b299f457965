"""The report in five sentences; every number in them is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphsct.pages.tables import Table
from graphsct.paper.cell import DEEP
from graphsct.paper.report.findings import agreement, effect, exact, missing
from graphsct.paper.tables.rows import AccuracyRow

__all__ = ["brief"]


def brief(tables: Mapping[str, Table[Any]]) -> list[str]:
    """What the paper claims and what our runs show, in five sentences a newcomer understands.

    Args:
        tables: all tables by their plain names
    """
    rows = (*tables["depth"].rows, *tables["heterophilic"].rows)
    found = effect(rows)
    if not found.pairs:
        return ["We have not run any pair of models with and without SCT yet."]
    deep = [row for row in tables["depth"].rows if row.depth >= DEEP]
    return [
        "The paper adds a learnable term, SCT, to graph networks, and in the "
        f"{found.pairs} pairs of models that we trained again it prints a gain of "
        f"{found.paper_mean:+z.1f} points of accuracy on average.",
        "We gave the model with the term and the model without it the same number of trials to "
        f"find their settings, and then the gain is {found.mean:+z.1f} points.",
        f"The term helps in {found.helps} pairs and hurts in {found.hurts}; in the other "
        f"{found.unclear} no difference can be shown.",
        _baselines(deep),
        f"{exact(tables['sizes'])} of {len(tables['sizes'].rows)} models have exactly as many "
        f"weights as the paper prints, so they are the same models; {_rest(tables)}.",
    ]


def _baselines(deep: Sequence[AccuracyRow]) -> str:
    """Where the difference comes from."""
    base, ours = (agreement(row for row in deep if row.sct is sct).mean for sct in (False, True))
    if base is None or ours is None:
        return (
            f"Models of {DEEP} and more layers, where the paper's gains are largest, are not run."
        )
    where = f"With {DEEP} and more layers, our models without the term differ from the paper's by "
    means = f"{base:+z.1f} points and those with it by {ours:+z.1f}"
    weak = base > max(ours, 0)
    end = ": the paper compares with models that are weaker than they need to be." if weak else "."
    return where + means + end


def _rest(tables: Mapping[str, Table[Any]]) -> str:
    count = sum(missing(tables).values())
    return f"{count} cells of the tables are still missing" if count else "no cell is missing"
