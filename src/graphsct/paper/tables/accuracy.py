"""The tables of accuracies, with two verdicts: against the paper, and of SCT against its base."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphsct.pages.tables import Column, Field, Table
from graphsct.paper.cell import EARLIER, Cell, Key
from graphsct.paper.keys import base_of, key_of
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.reach import unreached
from graphsct.paper.replay import Replay
from graphsct.paper.tables.experiment import Root, TrainedExperiment
from graphsct.paper.tables.replays import protocol_of
from graphsct.paper.tables.rows import (
    DATA,
    MODEL,
    AccuracyRow,
    Earlier,
    Gain,
    effect_of,
    judged,
    misprints,
)
from graphsct.paper.tables.shortfalls import shortfalls
from graphsct.paper.tables.yardsticks import yardsticks
from graphsct.training.metrics import deviation
from graphsct.training.significance import (
    LEVEL,
    Difference,
    adjusted,
    compare,
    compare_pairs,
    interval,
    prediction_interval,
)

__all__ = ["EXPERIMENTS", "Accuracy", "gains"]

_NOTES = (
    "ours: mean ± standard deviation of the test accuracy over n runs. Validation accuracy "
    "selected the epoch of each run and the settings, with one budget for a model with SCT and "
    "its base.",
    "against paper: agrees if the printed number could be a run of ours, that is if the 95% "
    "prediction interval for one more run contains it; otherwise our runs are above or below it. "
    "Where the paper prints a mean over splits, and in the column mean against paper, the interval "
    "is the 95% confidence interval of our mean.",
    "SCT gains: the mean with SCT minus the mean without, and its 95% confidence interval: "
    "Welch's, or that of the pairs if each run with SCT has one without on the same split.",
    "p: the two-sided p value of that difference, with Holm's correction over all comparisons of "
    f"the table. SCT helps or hurts where p is below {LEVEL:g}; elsewhere its effect is unclear.",
    "Intervals and p values hold for the settings that were found; another search might find "
    "others.",
)


def _before(row: AccuracyRow) -> Field:
    found = row.earlier
    if found is None:
        return Field("")
    limit = f", at most {found.limit} channels" if found.limit else ""
    return Field(f"{found.ours:.1f} ± {found.std:.1f} ({found.trials} trials{limit})")


_EARLIER: Column[AccuracyRow] = Column("first search", _before)
_PROTOCOL: Column[AccuracyRow] = Column(
    "paper's protocol", "{protocol.mean:.1f} [{protocol.low:.1f}, {protocol.high:.1f}]"
)
_PROTOCOL_NOTE = (
    "paper's protocol: the numbers that the paper's way of tuning and selecting prints for our "
    "models: mean, 5% and 95% quantile (table 'replay')."
)
_EARLIER_NOTE = (
    "first search: our result before a second search, whose space contains the settings that "
    "others publish; in brackets, the trials of the first search and its limit on channels."
)
_BY_LOSS = "The same runs, with the epoch selected by validation loss"


class Accuracy(TrainedExperiment):
    """One row for each of the paper's cells, and parts that explain them."""

    def build(self, cells: Path, root: Root) -> Table[AccuracyRow]:
        """Build the table; cells without runs say so."""
        printed, ours = self.printed, Cell.read_all(cells)
        before = Cell.read_all(cells / EARLIER)
        rows = _rows(printed, ours, "val_score", Replay.read_all(cells), before)
        by_loss = tuple(row for row in _rows(printed, ours, "val_loss") if row.n)
        columns = _columns(printed)
        sections = ("dataset", "model")
        parts: list[Table[Any]] = []
        if by_loss:
            parts.append(Table(_BY_LOSS, columns, by_loss, sections=sections))
        parts += _on_other_splits(printed, columns, ours)
        parts += [*shortfalls(rows), *yardsticks({row.dataset for row in rows})]
        unequal = [row.cell for row in rows if row.gain and not row.gain.same_budget]
        warning = [f"Not searched with the budget of its base: {name}." for name in unequal]
        notes = [*_NOTES, *warning, *misprints(printed.cells)]
        if any(row.earlier for row in rows):
            columns = (*columns, _EARLIER)
            notes.append(_EARLIER_NOTE)
        if any(row.protocol for row in rows):
            columns = (*columns, _PROTOCOL)
            notes.append(_PROTOCOL_NOTE)
        return self.table(columns, rows, notes, parts, sections)


def _on_other_splits(
    printed: PaperTable, columns: tuple[Column[AccuracyRow], ...], cells: Mapping[Key, Cell]
) -> Iterator[Table[AccuracyRow]]:
    """Our cells on the splits that the paper names, where our default is another split."""
    rows = _rows(printed.on_other_splits(), cells, "val_score")
    if any(row.n for row in rows):
        yield Table(
            "On the split of EGNN's code, which the paper names and which all runs share",
            columns,
            rows,
            sections=("dataset", "model"),
        )


EXPERIMENTS = tuple(
    Accuracy(name) for name in ("depth", "heterophilic", "srelu", "activations", "heterophilic-std")
)


def _rows(
    table: PaperTable,
    cells: Mapping[Key, Cell],
    select: str,
    replays: Mapping[Key, Replay] = MappingProxyType({}),
    before: Mapping[Key, Cell] = MappingProxyType({}),
) -> tuple[AccuracyRow, ...]:
    found = gains(table, cells, select)
    bases = {(c.dataset, c.model, c.depth): _value(c) for c in table.cells if c.sct is False}
    rows = []
    for cell in table.cells:
        base = bases.get((cell.dataset, cell.model, cell.depth)) if cell.sct else None
        gain = found.get(key_of(cell)) if cell.sct else None
        paper_gain = None if base is None else round(_value(cell) - base, 2)
        row = _row(cell, cells, select, gain, paper_gain, one_run=_prints_runs(table))
        key = key_of(cell)
        protocol = protocol_of(key, replays)
        rows.append(replace(row, protocol=protocol, earlier=_earlier(before.get(key), select)))
    return tuple(rows)


def _row(
    cell: PaperCell,
    cells: Mapping[Key, Cell],
    select: str,
    gain: Gain | None,
    paper_gain: float | None,
    *,
    one_run: bool,
) -> AccuracyRow:
    key, paper = key_of(cell), _value(cell)
    ours = cells.get(key)
    runs = [] if ours is None else ours.accuracies(select)
    valid = [] if ours is None else [100 * run.val_score for run in ours.runs(select)]
    low, high = interval(runs) or (None, None)
    mean = statistics.fmean(runs) if runs else None
    return AccuracyRow.of(
        cell,
        cell=key.name,
        select=select,
        paper=paper,
        paper_std=cell.std,
        ours=mean,
        std=deviation(runs) if runs else None,
        n=len(runs),
        low=low,
        high=high,
        difference=None if mean is None else mean - paper,
        verdict=_against(paper, prediction_interval(runs) if one_run else interval(runs)),
        mean_verdict=_against(paper, interval(runs)),
        missing=None if runs else _missing(key),
        our_depth=None if ours is None else ours.settings.model.depth,
        our_hidden=None if ours is None else ours.settings.model.hidden,
        our_trials=None if ours is None or ours.found is None else ours.found.trials,
        our_limit=None if ours is None or ours.allowed is None else ours.allowed.limit,
        unreached=() if ours is None else unreached(ours),
        validation=statistics.fmean(valid) if valid else None,
        gain=gain,
        paper_gain=paper_gain,
    )


def _earlier(cell: Cell | None, select: str) -> Earlier | None:
    runs = [] if cell is None else cell.accuracies(select)
    if cell is None or cell.found is None or not runs:
        return None
    return Earlier(
        ours=statistics.fmean(runs),
        std=deviation(runs),
        n=len(runs),
        trials=cell.found.trials,
        limit=cell.found.allowed.limit,
    )


def _value(cell: PaperCell) -> float:
    assert cell.value is not None
    return float(cell.value)


def _missing(key: Key) -> str:
    return "data set not available" if key.dataset == "arxiv" else "not run yet"


def _prints_runs(table: PaperTable) -> bool:
    """Whether a table of the paper prints single runs, and not means over splits."""
    return not table.name.startswith("heterophilic")


def _against(paper: float, ours: tuple[float, float] | None) -> str | None:
    if ours is None:
        return None
    low, high = ours
    if low <= paper <= high:
        return "agrees"
    return "above" if paper < low else "below"


def _difference(ours: Cell, base: Cell, select: str) -> Difference | None:
    """Compare runs in pairs if they share their seed and one of several splits, else unpaired."""
    mine, others = ours.runs(select), base.runs(select)
    places = [[(run.seed, run.split) for run in runs] for runs in (mine, others)]
    paired = places[0] == places[1] and all(split is not None for _, split in places[0])
    test = compare_pairs if paired else compare
    return test(ours.accuracies(select), base.accuracies(select))


def gains(
    table: PaperTable, cells: Mapping[Key, Cell], select: str = "val_score"
) -> dict[Key, Gain]:
    """Compare SCT with its own base in every cell of a table that has runs of both."""
    found, fair = {}, {}
    for cell in table.cells:
        key = key_of(cell)
        ours, base = cells.get(key), cells.get(base_of(key))
        if cell.sct and ours is not None and base is not None:
            difference = _difference(ours, base, select)
            if difference is not None:
                found[key] = difference
                fair[key] = ours.allowed == base.allowed
    p_values = adjusted(found)
    return {
        key: Gain(
            **vars(difference),
            p_holm=p_values[key],
            verdict=effect_of(difference.mean, p_values[key]),
            same_budget=fair[key],
        )
        for key, difference in found.items()
    }


def _columns(table: PaperTable) -> tuple[Column[AccuracyRow], ...]:
    digits = 1 if _prints_runs(table) else 2
    number = f".{digits}f"
    paper = f"{{paper:{number}}}{{mark:s}}"

    def ours(row: AccuracyRow) -> Field:
        if row.ours is None:
            return Field("not run", "missing", long=row.missing or "")
        return Field(f"{row.ours:{number}} ± {row.std:{number}}", link=f"#cell-{row.cell}")

    shown: list[Column[AccuracyRow]] = [
        DATA,
        MODEL,
        Column("layers", ("{depth:d}", "{our_depth:d} (found)")),
        Column("activation", "{activation:s}", right=False),
        Column("paper", (f"{paper} ± {{paper_std:.1f}}", paper)),
        Column("ours", ours),
        Column("n", "{n:d}"),
        Column("difference", f"{{difference:+z{number}}}"),
        Column("against paper", lambda row: judged(row.verdict), right=False),
        Column("mean against paper", lambda row: judged(row.mean_verdict), right=False),
        Column("SCT gains, paper", f"{{paper_gain:+z{number}}}"),
        Column("SCT gains, ours", f"{{gain.mean:+z{number}}}"),
        Column("95% interval", f"[{{gain.low:+z{number}}}, {{gain.high:+z{number}}}]"),
        Column("p", "{gain.p_holm:.2g}"),
        Column("SCT", lambda row: judged(row.gain.verdict if row.gain else None), right=False),
    ]
    if len({cell.activation for cell in table.cells}) == 1:
        shown = [column for column in shown if column.title != "activation"]
    return tuple(shown)
