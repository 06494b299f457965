"""What came out of training in sentences and rows, the same on a terminal and on a page."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from graphsct.training.compare import Comparison
from graphsct.training.seeds import Results, percent

__all__ = ["COLUMNS", "SELECT", "describe", "rows"]

SELECT = {"val_loss": "validation loss", "val_accuracy": "validation accuracy"}

#: The columns of :func:`rows`.
COLUMNS = ("control", "test accuracy, %", "validation, %", "best epoch", "s a run")


def describe(found: Comparison) -> str:
    """What was trained, in a line or two."""
    model, runs = found.results.model, found.results.counted
    seeds = f"seeds 0 to {len(runs) - 1}" if len(runs) > 1 else f"seed {runs[0].config.seed}"
    splits = f", seed i on split i mod {found.num_splits}" if found.num_splits > 1 else ""
    return (
        f"{model.title}, {model.depth} layers of width {model.hidden}, control "
        f"{model.control or 'none'}; {seeds}{splits}; the epoch chosen by "
        f"{SELECT[found.results.config.select]}"
    )


def rows(found: Comparison) -> Iterator[tuple[str, ...]]:
    """Mean ± sample standard deviation over the seeds, in percent."""
    for part in found.parts:
        yield _row(part)
    if found.differences:
        yield "difference, paired", percent(found.differences, sign="+"), "", "", ""


def _row(results: Results) -> tuple[str, ...]:
    runs = results.counted
    return (
        results.model.control or "none",
        percent([run.test_accuracy for run in runs]),
        percent([run.val_accuracy for run in runs]),
        f"{statistics.fmean(run.best_epoch for run in runs):.0f}",
        f"{statistics.fmean(run.seconds for run in runs):.1f}",
    )
