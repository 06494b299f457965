"""The tables of accuracies, with two verdicts: against the paper, and of SCT against its base."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from graphsct.paper.cell import Cell, Key
from graphsct.paper.paper import DATASETS, MODELS, PaperCell, PaperTable
from graphsct.paper.plan import base_of, key_of
from graphsct.paper.tables.shortfalls import shortfalls
from graphsct.paper.tables.significance import (
    LEVEL,
    Difference,
    compare,
    compare_pairs,
    holm,
    interval,
)
from graphsct.paper.tables.table import Column, Row, Table
from graphsct.paper.tables.yardsticks import yardsticks
from graphsct.training.seeds import deviation

__all__ = ["build", "gains", "heading", "misprints"]

_NOTES = (
    "ours: mean ± standard deviation of the test accuracy over n runs. Validation accuracy chose "
    "the epoch of each, and the settings, with one budget for a model with SCT and its base.",
    "against paper: agrees if the 95% confidence interval of our mean holds the printed number, "
    "above or below if our mean is so by more.",
    "SCT gains: the mean with SCT less the mean without, and its 95% confidence interval: Welch's, "
    "or that of the pairs where each run with SCT has one without on the same split.",
    "p: of that difference, two-sided, by Holm's correction over all comparisons of the table. SCT "
    f"helps or hurts where it is below {LEVEL:g}; else it is unclear what it does.",
    "Intervals and p are about runs in the settings that were found, not about what another search "
    "would find.",
)
_BY_LOSS = "The same runs again, the epoch chosen by validation loss"


def build(table: PaperTable, cells: Mapping[Key, Cell]) -> Table:
    """One row for each of the paper's cells; those that nobody has run say so.

    Args:
        table: of accuracies
        cells: ours
    """
    rows = _rows(table, cells, "val_accuracy")
    by_loss = tuple(row for row in _rows(table, cells, "val_loss") if row["n"])
    columns = _columns(table)
    parts = (Table(_BY_LOSS, columns, by_loss),) if by_loss else ()
    outside = (*shortfalls(rows), *yardsticks({row["dataset"] for row in rows}))
    unequal = [row["cell"] for row in rows if row["gain"] and not row["gain"]["same_budget"]]
    warning = [f"Not searched with the budget of its base: {name}." for name in unequal]
    notes = (*table.notes, *_NOTES, *warning, *misprints(table.cells))
    return Table(table.title, columns, rows, notes, table, (*parts, *outside))


def _rows(table: PaperTable, cells: Mapping[Key, Cell], select: str) -> tuple[Row, ...]:
    rows = [_row(cell, cells, select) for cell in table.cells]
    found = gains(table, cells, select)
    printed = {(c.dataset, c.model, c.depth): c.value for c in table.cells if c.sct is False}
    for row, cell in zip(rows, table.cells, strict=True):
        row["gain"] = found.get(key_of(cell)) if cell.sct else None
        base = printed.get((cell.dataset, cell.model, cell.depth))
        row["paper_gain"] = None
        if cell.sct and base is not None:
            row["paper_gain"] = round(row["paper"] - float(base), 2)
    return tuple(rows)


def _row(cell: PaperCell, cells: Mapping[Key, Cell], select: str) -> Row:
    key = key_of(cell)
    ours = cells.get(key)
    runs = [] if ours is None else ours.accuracies(select)
    valid = [] if ours is None else [100 * run["val_accuracy"] for run in ours.runs(select)]
    bounds = interval(runs)
    mean = statistics.fmean(runs) if runs else None
    return {
        **heading(cell),
        "cell": key.name,
        "select": select,
        "paper": cell.value,
        "paper_std": cell.std,
        "ours": mean,
        "std": deviation(runs) if runs else None,
        "n": len(runs),
        "low": None if bounds is None else bounds[0],
        "high": None if bounds is None else bounds[1],
        "difference": None if mean is None else mean - float(cell.value or 0),
        "verdict": None if bounds is None else _against(float(cell.value or 0), *bounds),
        "missing": None if runs else _missing(key),
        "our_depth": None if ours is None else ours.settings.model.depth,
        "our_hidden": None if ours is None else ours.settings.model.hidden,
        "our_trials": None if ours is None or ours.found is None else ours.found["trials"],
        "our_limit": None if ours is None else (ours.allowed or {}).get("max_hidden"),
        "validation": statistics.fmean(valid) if valid else None,
    }


def heading(cell: PaperCell) -> Row:
    """What a cell of the paper is of, and what is wrong with it."""
    key = key_of(cell)
    return {
        "dataset": cell.dataset,
        "model": cell.model,
        "control": key.control,
        "depth": cell.depth,
        "activation": cell.activation,
        "sct": cell.sct,
        "data_title": DATASETS[key.dataset],
        "model_title": MODELS[key.model] + ("-SCT" if cell.sct else ""),
        "right": cell.right,
        "why": cell.why,
        "mark": "*" if cell.why else "",
    }


def _missing(key: Key) -> str:
    return "its files were not at hand" if key.dataset == "arxiv" else "nobody has run it yet"


def _against(paper: float, low: float, high: float) -> str:
    if low <= paper <= high:
        return "agrees"
    return "above" if paper < low else "below"


def _difference(ours: Cell, base: Cell, select: str) -> Difference | None:
    """Runs on the ten splits of a set come in pairs, others are independent."""
    mine, others = ours.runs(select), base.runs(select)
    places = [[(run["seed"], run["split"]) for run in runs] for runs in (mine, others)]
    paired = places[0] == places[1] and all(split is not None for _, split in places[0])
    test = compare_pairs if paired else compare
    return test(ours.accuracies(select), base.accuracies(select))


def gains(
    table: PaperTable, cells: Mapping[Key, Cell], select: str = "val_accuracy"
) -> dict[Key, dict[str, Any]]:
    """SCT against its own base in every cell of a table that has runs of both."""
    found, fair = {}, {}
    for cell in table.cells:
        key = key_of(cell)
        ours, base = cells.get(key), cells.get(base_of(key))
        if cell.sct and ours is not None and base is not None:
            difference = _difference(ours, base, select)
            if difference is not None:
                found[key] = difference
                fair[key] = ours.allowed == base.allowed
    adjusted = holm([difference.p for difference in found.values()])
    return {
        key: {
            **vars(difference),
            "p_holm": p,
            "verdict": _effect(difference.mean, p),
            "same_budget": fair[key],
        }
        for (key, difference), p in zip(found.items(), adjusted, strict=True)
    }


def _effect(mean: float, p: float) -> str:
    if p >= LEVEL:
        return "unclear"
    return "helps" if mean > 0 else "hurts"


def _columns(table: PaperTable) -> tuple[Column, ...]:
    digits = 2 if table.name.startswith("heterophilic") else 1
    number = f".{digits}f"
    paper = f"{{paper:{number}}}{{mark:s}}"
    shown = [
        Column("data", ("{data_title:s}",), right=False),
        Column("model", ("{model_title:s}",), right=False),
        Column("layers", ("{depth:d}", "{our_depth:d} (found)")),
        Column("activation", ("{activation:s}",), right=False),
        Column("paper", (f"{paper} ± {{paper_std:.1f}}", paper)),
        Column("ours", (f"{{ours:{number}}} ± {{std:{number}}}", "not run")),
        Column("n", ("{n:d}",)),
        Column("difference", (f"{{difference:+z{number}}}",)),
        Column("against paper", ("{verdict:s}",), right=False),
        Column("SCT gains, paper", (f"{{paper_gain:+z{number}}}",)),
        Column("SCT gains, ours", (f"{{gain[mean]:+z{number}}}",)),
        Column("95% interval", (f"[{{gain[low]:+z{number}}}, {{gain[high]:+z{number}}}]",)),
        Column("p", ("{gain[p_holm]:.2g}",)),
        Column("SCT", ("{gain[verdict]:s}",), right=False),
    ]
    if len({cell.activation for cell in table.cells}) == 1:
        shown = [column for column in shown if column.title != "activation"]
    return tuple(shown)


def misprints(cells: Iterable[PaperCell]) -> list[str]:
    """What is wrong with some of the paper's cells, one sentence each."""
    return [
        f"* {DATASETS[cell.dataset or '']}, {heading(cell)['model_title']}"
        + (f", {cell.depth} layers" if cell.depth else "")
        + (f": should be {cell.right:g}, {cell.why}" if cell.right else f": {cell.why}")
        for cell in cells
        if cell.why
    ]
