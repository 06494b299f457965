"""The effect of a remedy."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from graphsct.records import Record
from graphsct.training.metrics import METRICS, Metric, deviation
from graphsct.training.run import Run

__all__ = ["Effect"]


@dataclass(frozen=True)
class Effect(Record):
    """The runs of a model with a remedy, with the same seeds as without it.

    Args:
        name: name of the remedy, or ``as it is``
        runs: one run per seed
        differences: test score minus that of the model as it is, seed by seed
    """

    name: str
    runs: tuple[Run, ...]
    differences: tuple[float, ...]

    @property
    def metric(self) -> Metric:
        """The metric of all scores."""
        return METRICS[self.runs[0].metric]

    @property
    def test(self) -> list[float]:
        """Test scores at the epochs selected by validation."""
        return [run.test_score for run in self.runs]

    @property
    def val(self) -> list[float]:
        """Validation scores at these epochs."""
        return [run.val_score for run in self.runs]

    def to_dict(self) -> dict[str, Any]:
        """Means, standard deviations, the scores of every seed and the runs without their history,
        as plain values.
        """
        return {
            "test_mean": statistics.fmean(self.test),
            "test_std": deviation(self.test),
            "val_mean": statistics.fmean(self.val),
            "val_std": deviation(self.val),
            "difference_mean": statistics.fmean(self.differences),
            "difference_std": deviation(self.differences),
            "test": self.test,
            "val": self.val,
            "best_epochs": [run.best_epoch for run in self.runs],
            "seeds": [run.config.seed for run in self.runs],
            "train": self.runs[0].config.to_dict(),
            **super().to_dict(),
        }
