"""Rows of the paper's numbers beside ours, and the columns that many tables share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from graphsct.pages.tables import Column, Field
from graphsct.paper.keys import key_of
from graphsct.paper.paper import MODELS, TITLES, PaperCell
from graphsct.paper.replay import Printed
from graphsct.training.significance import LEVEL, Difference

__all__ = [
    "DATA",
    "MODEL",
    "VERDICTS",
    "AccuracyRow",
    "Earlier",
    "Gain",
    "PrintedRow",
    "effect_of",
    "judged",
    "misprints",
]

#: Kind and sign of a table's field by its verdict.
VERDICTS = {
    "helps": ("better", "▲"),
    "hurts": ("worse", "▼"),
    "unclear": ("level", "~"),
    "above": ("better", "▲"),
    "below": ("worse", "▼"),
    "agrees": ("level", "="),
}


def effect_of(mean: float, p: float) -> str:
    """Whether a mean gain with this p value shows that SCT ``helps`` or ``hurts``, or neither."""
    if p >= LEVEL:
        return "unclear"
    return "helps" if mean > 0 else "hurts"


def judged(verdict: str | None) -> Field:
    """Return the field of a verdict, empty without one."""
    return Field("") if verdict is None else Field(verdict, *VERDICTS[verdict])


#: Columns that name the data set and the model of a row.
DATA: Column[Any] = Column("data", "{data_title:s}", right=False)
MODEL: Column[Any] = Column("model", "{model_title:s}", right=False)


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """The subject of a number in the paper, and its misprint if it has one.

    Args:
        dataset: our name of the data set
        model: ``gcn``, ``gcnii`` or ``egnn``
        control: the control of our model, ``None`` without SCT
        depth: number of layers, ``None`` if the paper does not give it
        activation: ``None`` if the paper does not give it
        sct: with SCT or without
        data_title: title of the data set
        model_title: title of the model
        right: the right number of a misprint, if it is known
        why: what is wrong with the number
        mark: an asterisk for a misprint
    """

    dataset: str
    model: str
    control: str | None
    depth: int | None
    activation: str | None
    sct: bool | None
    data_title: str
    model_title: str
    right: float | None
    why: str | None
    mark: str

    @classmethod
    def of(cls, cell: PaperCell, /, **own: Any) -> Self:
        """Return the row of a cell of the paper, with its own fields."""
        key = key_of(cell)
        return cls(
            dataset=key.dataset,
            model=key.model,
            control=key.control,
            depth=cell.depth,
            activation=cell.activation,
            sct=cell.sct,
            data_title=TITLES[key.dataset],
            model_title=MODELS[key.model] + ("-SCT" if cell.sct else ""),
            right=cell.right,
            why=cell.why,
            mark="*" if cell.why else "",
            **own,
        )


@dataclass(frozen=True, kw_only=True)
class Gain(Difference):
    """SCT against its own base.

    Args:
        p_holm: p with Holm's correction over all comparisons of the table
        verdict: ``helps``, ``hurts`` or ``unclear``
        same_budget: whether the settings of both were searched with one budget
    """

    p_holm: float
    verdict: str
    same_budget: bool


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Our result before the settings were searched again.

    Args:
        ours: mean
        std: standard deviation
        n: number of runs
        trials: trials of that search
        limit: maximum number of channels in that search, ``None`` without a limit
    """

    ours: float
    std: float
    n: int
    trials: int
    limit: int | None


@dataclass(frozen=True, kw_only=True)
class AccuracyRow(PrintedRow):
    """An accuracy of the paper and ours, in percent; ours is ``None`` if we have no runs.

    Args:
        cell: name of our cell
        select: the rule that selected the epoch
        paper: as printed
        paper_std: as printed
        ours: mean
        std: standard deviation
        n: number of runs
        low: lower end of the 95% confidence interval of our mean
        high: upper end
        difference: ours minus the paper's
        verdict: ``above``, ``agrees`` or ``below``: where the paper prints one run, by our interval
            for one more run, else by that of our mean
        mean_verdict: the same, by the interval of our mean
        missing: reason for missing runs
        our_depth: number of layers of our model
        our_hidden: number of its channels
        our_trials: trials of the search for its settings
        our_limit: maximum number of channels in that search, ``None`` without a limit
        validation: mean validation accuracy
        gain: gain over the base, in a row with SCT
        paper_gain: the same in the paper
        protocol: what the paper's protocol prints, if it was replayed
        earlier: our result before another search, ``None`` if there was one search
        unreached: names of the published settings that our search could not choose
    """

    cell: str
    select: str
    paper: float
    paper_std: float | None
    ours: float | None
    std: float | None
    n: int
    low: float | None
    high: float | None
    difference: float | None
    verdict: str | None
    mean_verdict: str | None
    missing: str | None
    our_depth: int | None
    our_hidden: int | None
    our_trials: int | None
    our_limit: int | None
    validation: float | None
    gain: Gain | None
    paper_gain: float | None
    protocol: Printed | None = None
    earlier: Earlier | None = None
    unreached: tuple[str, ...] = ()


def misprints(cells: Iterable[PaperCell]) -> list[str]:
    """Return one sentence about each wrong cell of the paper."""
    notes = []
    for row in (PrintedRow.of(cell) for cell in cells if cell.why):
        layers = f", {row.depth} layers" if row.depth else ""
        should = f"should be {row.right:g}, " if row.right else ""
        notes.append(f"* {row.data_title}, {row.model_title}{layers}: {should}{row.why}")
    return notes
