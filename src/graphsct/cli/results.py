"""Results of training as lines and tables."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from graphsct.training.seeds import percent

if TYPE_CHECKING:
    from rich.table import Table

    from graphsct.training.compare import Comparison
    from graphsct.training.seeds import Results

__all__ = ["SELECT", "comparison_table", "describe", "percent"]

_TITLES = {"gcn": "GCN", "gcnii": "GCNII", "egnn": "EGNN"}
SELECT = {"val_loss": "validation loss", "val_accuracy": "validation accuracy"}


def describe(found: Comparison) -> str:
    """What was trained, in a line or two."""
    model, runs = found.results.model, found.results.counted
    seeds = f"seeds 0 to {len(runs) - 1}" if len(runs) > 1 else f"seed {runs[0].config.seed}"
    splits = f", seed i on split i mod {found.num_splits}" if found.num_splits > 1 else ""
    return (
        f"[bold]{found.data}[/]: {_TITLES[model.model]}, {model.depth} layers of width "
        f"{model.hidden}, control {model.control or 'none'}; {seeds}{splits}; the epoch chosen by "
        f"{SELECT[found.results.config.select]}"
    )


def comparison_table(found: Comparison) -> Table:
    """Mean ± sample standard deviation over the seeds, in percent."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("control", "test accuracy, %", "validation, %", "best epoch", "s a run"):
        table.add_column(name, justify="left" if name == "control" else "right")
    for part in found.parts:
        table.add_row(*_row(part))
    if found.differences:
        table.add_row("difference, paired", percent(found.differences, sign="+"))
    return table


def _row(results: Results) -> tuple[str, ...]:
    runs = results.counted
    return (
        results.model.control or "none",
        percent([run.test_accuracy for run in runs]),
        percent([run.val_accuracy for run in runs]),
        f"{statistics.fmean(run.best_epoch for run in runs):.0f}",
        f"{statistics.fmean(run.seconds for run in runs):.1f}",
    )
