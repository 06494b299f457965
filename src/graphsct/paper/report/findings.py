"""What our runs say about the paper's claims: counts over the rows of its tables."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphsct.paper.paper import MODELS
from graphsct.paper.tables import Column, Row, Table

__all__ = [
    "CLAIMED",
    "Agreement",
    "Effect",
    "Finding",
    "agreement",
    "breakdown",
    "effect",
    "exact",
    "missing",
]

#: The tables that compare SCT with its base, each counted by itself.
CLAIMED = ("depth", "srelu", "heterophilic")


@dataclass(frozen=True)
class Finding:
    """A question about the paper and what our runs answer.

    Args:
        question: in a few words
        answer: in a few words
        text: the evidence
        counts: how many cells got which verdict, if that is the answer
    """

    question: str
    answer: str
    text: str
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Effect:
    """SCT against its base, over pairs that both have our runs.

    Args:
        printed: pairs of the paper
        printed_up: those in which it prints a gain
        pairs: of ours
        fair: those whose settings were searched with one budget
        helps: in how many, by Holm's correction
        hurts: in how many, by Holm's correction
        above: in how many the 95% interval of the pair alone is above zero
        below: in how many it is below
        mean: gain of ours, ``None`` without pairs
        paper_mean: the paper's gain over the same pairs
        best: the row with the largest gain of ours
        worst: that with the smallest
    """

    printed: int
    printed_up: int
    pairs: int
    fair: int
    helps: int
    hurts: int
    above: int
    below: int
    mean: float | None
    paper_mean: float | None
    best: Row | None
    worst: Row | None

    @property
    def unclear(self) -> int:
        """In how many pairs no difference can be shown."""
        return self.pairs - self.helps - self.hurts


def effect(rows: Iterable[Row]) -> Effect:
    """Count over the rows with SCT; the others are passed over."""
    controlled = [row for row in rows if row["paper_gain"] is not None]
    ours = [row for row in controlled if row["gain"] is not None]
    verdicts = Counter(row["gain"]["verdict"] for row in ours)
    ranked = sorted(ours, key=lambda row: float(row["gain"]["mean"]))
    return Effect(
        printed=len(controlled),
        printed_up=sum(row["paper_gain"] > 0 for row in controlled),
        pairs=len(ours),
        fair=sum(row["gain"]["same_budget"] for row in ours),
        helps=verdicts["helps"],
        hurts=verdicts["hurts"],
        above=sum(row["gain"]["low"] > 0 for row in ours),
        below=sum(row["gain"]["high"] < 0 for row in ours),
        mean=_mean(row["gain"]["mean"] for row in ours),
        paper_mean=_mean(row["paper_gain"] for row in ours),
        best=ranked[-1] if ranked else None,
        worst=ranked[0] if ranked else None,
    )


@dataclass(frozen=True)
class Agreement:
    """Our accuracies beside the printed ones: how many are above, agree and are below."""

    cells: int
    above: int
    agrees: int
    below: int
    mean: float | None


def agreement(rows: Iterable[Row]) -> Agreement:
    """Count over the rows that have runs of ours."""
    ran = [row for row in rows if row["verdict"] is not None]
    verdicts = Counter(row["verdict"] for row in ran)
    mean = _mean(row["difference"] for row in ran)
    return Agreement(len(ran), verdicts["above"], verdicts["agrees"], verdicts["below"], mean)


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return statistics.fmean(values) if values else None


def exact(sizes: Table) -> int:
    """How many models have the size that the paper prints."""
    return sum(row["difference"] == 0 for row in sizes.rows)


def missing(tables: Mapping[str, Table]) -> dict[str, int]:
    """How many cells have no number of ours, by the reason; each cell is counted once."""
    cells = {
        row["cell"]: row["missing"]
        for table in tables.values()
        for row in table.rows
        if row.get("cell") and row.get("missing")
    }
    return dict(Counter(cells.values()).most_common())


_COLUMNS = (
    Column("table", ("{table:s}",), right=False),
    Column("model", ("{model:s}",), right=False),
    Column("layers", ("{depth:d}", "searched")),
    Column("pairs", ("{effect.pairs:d}",)),
    Column("SCT helps", ("{effect.helps:d}",)),
    Column("unclear", ("{effect.unclear:d}",)),
    Column("SCT hurts", ("{effect.hurts:d}",)),
    Column("ours: mean gain", ("{effect.mean:+z.1f}",)),
    Column("paper: mean gain", ("{effect.paper_mean:+z.1f}",)),
)


def breakdown(tables: Mapping[str, Table]) -> Table:
    """The effect of SCT by table, model and depth, where there are pairs of ours."""
    rows = []
    for name in CLAIMED:
        groups = {(row["model"], row["depth"]): None for row in tables[name].rows}
        for model, depth in groups:
            inside = [r for r in tables[name].rows if (r["model"], r["depth"]) == (model, depth)]
            found = effect(inside)
            if found.pairs:
                rows.append(
                    {"table": name, "model": MODELS[model], "depth": depth, "effect": found}
                )
    return Table("Where SCT helps", _COLUMNS, tuple(rows))
