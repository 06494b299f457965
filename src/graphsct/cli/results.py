"""Results of training on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsct.training.words import COLUMNS, rows

if TYPE_CHECKING:
    from rich.table import Table

    from graphsct.training.compare import Comparison

__all__ = ["comparison_table"]


def comparison_table(found: Comparison) -> Table:
    """Mean ± sample standard deviation over the seeds, in percent."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "control" else "right")
    for row in rows(found):
        table.add_row(*row)
    return table
