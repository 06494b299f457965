"""Train a GCN with and without smoothness control, shallow and deep, on one graph.

Both rules that select the epoch are tried, because they disagree for deep networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphsct.plotting.saving import to_columns
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.compare import Comparison, compare_control
from graphsct.training.config import SELECTIONS

__all__ = ["DEPTHS", "MODEL", "DepthStudy", "run_depths"]

DEPTHS = (2, 16)
MODEL = ModelConfig(model="gcn", control="pooled", hidden=16)


@dataclass(frozen=True)
class DepthStudy:
    """Comparisons by the rule that selects the epoch, and by depth."""

    found: dict[tuple[str, int], Comparison]

    def columns(self) -> dict[str, list[Any]]:
        """One row per run, with its settings and its result."""
        rows = [
            {
                "select": select,
                "depth": depth,
                "control": results.model.control or "none",
                "seed": run.config.seed,
                "best_epoch": run.best_epoch,
                "epochs": run.epochs,
                "val_score": run.val_score,
                "test_score": run.test_score,
            }
            for (select, depth), comparison in self.found.items()
            for results in comparison.parts
            for run in results.runs
        ]
        return to_columns(rows)


def run_depths(
    data: Any,
    folder: Path,
    *,
    seeds: int,
    config: TrainConfig,
    depths: tuple[int, ...] = DEPTHS,
) -> DepthStudy:
    """Train everything, with one run folder for each rule and depth; existing runs are replaced.

    After Ctrl-C the runs so far are on disk, and :class:`KeyboardInterrupt` is raised.
    """
    found: dict[tuple[str, int], Comparison] = {}
    for select in SELECTIONS:
        for depth in depths:
            comparison = compare_control(
                replace(MODEL, depth=depth),
                data,
                replace(config, select=select),
                range(seeds),
                folder=folder / f"{select}-depth-{depth}",
                force=True,
            )
            if comparison.interrupted:
                raise KeyboardInterrupt
            found[select, depth] = comparison
    return DepthStudy(found)
