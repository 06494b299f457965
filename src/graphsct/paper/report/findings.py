"""The evidence for and against the paper's claims: counts over the rows of its tables."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphsct.pages.tables import Column, Table
from graphsct.paper.paper import MODELS
from graphsct.paper.tables.rows import AccuracyRow
from graphsct.paper.tables.sizes import SizeRow

__all__ = [
    "CLAIMED",
    "Agreement",
    "ControlEffect",
    "ReportFinding",
    "agreement",
    "breakdown",
    "by_loss",
    "chosen",
    "effect",
    "exact",
    "missing",
]

#: The tables that compare SCT with its base, each counted by itself.
CLAIMED = ("depth", "srelu", "heterophilic")


@dataclass(frozen=True)
class ReportFinding:
    """A question about the paper and the answer of our runs.

    Args:
        question: in a few words
        answer: in a few words
        text: the evidence
        counts: number of cells with each verdict, if the answer is about verdicts
        items: the evidence case by case, as a list after the text
    """

    question: str
    answer: str
    text: str
    counts: tuple[tuple[str, int], ...] = ()
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class ControlEffect:
    """SCT against its base, over pairs that both have our runs.

    Args:
        printed: pairs in the paper
        printed_up: pairs in which the paper prints a gain
        pairs: pairs that we ran
        fair: pairs whose settings were searched with one budget
        helps: pairs in which SCT helps, by Holm's correction
        hurts: pairs in which it hurts, by Holm's correction
        above: pairs whose own 95% interval is above zero
        below: pairs whose own 95% interval is below zero
        mean: our mean gain, ``None`` without pairs
        paper_mean: mean gain of the paper over the same pairs
        best: the row with our largest gain
        worst: the row with our smallest gain
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
    best: AccuracyRow | None
    worst: AccuracyRow | None

    @property
    def unclear(self) -> int:
        """Pairs in which no difference can be shown."""
        return self.pairs - self.helps - self.hurts


def effect(rows: Iterable[AccuracyRow]) -> ControlEffect:
    """Count over the rows with SCT; the others are skipped."""
    printed = [(row, row.paper_gain) for row in rows if row.paper_gain is not None]
    ours = [(row, row.gain, paper) for row, paper in printed if row.gain is not None]
    verdicts = Counter(gain.verdict for _, gain, _ in ours)
    ranked = [row for row, _, _ in sorted(ours, key=lambda pair: pair[1].mean)]
    return ControlEffect(
        printed=len(printed),
        printed_up=sum(paper > 0 for _, paper in printed),
        pairs=len(ours),
        fair=sum(gain.same_budget for _, gain, _ in ours),
        helps=verdicts["helps"],
        hurts=verdicts["hurts"],
        above=sum(gain.low > 0 for _, gain, _ in ours),
        below=sum(gain.high < 0 for _, gain, _ in ours),
        mean=_mean(gain.mean for _, gain, _ in ours),
        paper_mean=_mean(paper for _, _, paper in ours),
        best=ranked[-1] if ranked else None,
        worst=ranked[0] if ranked else None,
    )


@dataclass(frozen=True)
class Agreement:
    """Our accuracies beside the printed ones: how many are above, agree and are below.

    ``means_below`` counts the cells whose mean is below, though one run may agree.
    """

    cells: int
    above: int
    agrees: int
    below: int
    means_below: int
    mean: float | None


def agreement(rows: Iterable[AccuracyRow]) -> Agreement:
    """Count over the rows that we ran."""
    ran = [row for row in rows if row.verdict is not None]
    verdicts = Counter(row.verdict for row in ran)
    mean = _mean(row.difference for row in ran if row.difference is not None)
    below = sum(row.mean_verdict == "below" for row in ran)
    return Agreement(
        len(ran), verdicts["above"], verdicts["agrees"], verdicts["below"], below, mean
    )


def chosen(rows: Iterable[AccuracyRow], *, sct: bool) -> AccuracyRow | None:
    """The row with the best validation accuracy, with SCT or without, if there is any."""
    own = [row for row in rows if row.sct is sct]
    return max(own, key=lambda row: row.validation or 0.0, default=None)


def by_loss(table: Table[AccuracyRow]) -> list[AccuracyRow]:
    """The rows of deep cells whose epoch was selected by validation loss."""
    rows = [row for part in table.parts for row in part.rows if isinstance(row, AccuracyRow)]
    return [row for row in rows if row.select == "val_loss"]


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return statistics.fmean(values) if values else None


def exact(sizes: Table[SizeRow]) -> int:
    """Count the models of exactly the size that the paper prints."""
    return sum(row.difference == 0 for row in sizes.rows)


def missing(tables: Mapping[str, Table[Any]]) -> dict[str, int]:
    """Count the cells that we did not run, by reason; each cell counts once."""
    rows = [row for table in tables.values() for row in table.rows if hasattr(row, "cell")]
    cells = {row.cell: row.missing for row in rows if getattr(row, "missing", None)}
    return dict(Counter(cells.values()).most_common())


@dataclass(frozen=True)
class _Group:
    """The effect of SCT on one model at one depth."""

    table: str
    model: str
    depth: int | None
    effect: ControlEffect


_COLUMNS: tuple[Column[_Group], ...] = (
    Column("table", "{table:s}", right=False),
    Column("model", "{model:s}", right=False),
    Column("layers", ("{depth:d}", "searched")),
    Column("pairs", "{effect.pairs:d}"),
    Column("SCT helps", "{effect.helps:d}"),
    Column("unclear", "{effect.unclear:d}"),
    Column("SCT hurts", "{effect.hurts:d}"),
    Column("ours: mean gain", "{effect.mean:+z.1f}"),
    Column("paper: mean gain", "{effect.paper_mean:+z.1f}"),
)


def breakdown(tables: Mapping[str, Table[Any]]) -> Table[_Group]:
    """Return the effect of SCT by table, model and depth, for the pairs that we ran."""
    rows = []
    for name in CLAIMED:
        groups: dict[tuple[str, int | None], list[AccuracyRow]] = {}
        for row in tables[name].rows:
            groups.setdefault((row.model, row.depth), []).append(row)
        for (model, depth), inside in groups.items():
            found = effect(inside)
            if found.pairs:
                rows.append(_Group(name, MODELS[model], depth, found))
    return Table("Where SCT helps", _COLUMNS, tuple(rows), sections=("model",))
