"""A cell of the leaderboard: one remedy on some data at one depth, and its file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from graphsct.datasets.catalog import CATALOG
from graphsct.errors import ExperimentError
from graphsct.files import write_json
from graphsct.nn.blueprint import get_model
from graphsct.records import Record
from graphsct.remedies.budget import BudgetSetting
from graphsct.training.metrics import METRICS, Metric
from graphsct.training.run import Run
from graphsct.training.scored_run import ScoredRun

if TYPE_CHECKING:
    from graphsct.diagnosis.measure import LayerReport

__all__ = ["BoardCell", "BoardKey", "BoardLayer", "TriedSetting", "data_title"]


class BoardKey(NamedTuple):
    """The key of a cell.

    Args:
        data: name of the data
        model: name of the model without the remedy
        depth: number of layers
        remedy: name of the remedy
    """

    data: str
    model: str
    depth: int
    remedy: str

    @property
    def name(self) -> str:
        """The name of its file.

        Example:
            >>> BoardKey("cora", "pyg:GAT", 8, "pair_norm").name
            'cora-pyg_GAT-8-pair_norm'
        """
        return _file_name(*self)

    @property
    def board(self) -> str:
        """The name of the file of all cells with its data and model."""
        return _file_name(self.data, self.model)

    @property
    def title(self) -> str:
        """Its data and model, as people name them.

        Example:
            >>> BoardKey("chameleon_filtered", "gcn", 2, "none").title
            'Chameleon without duplicates, GCN'
        """
        return f"{data_title(self.data)}, {get_model(self.model).title}"


def data_title(name: str) -> str:
    """The title of a data set of the catalogue, the name of any other data."""
    return CATALOG[name].title if name in CATALOG else name


def _file_name(*parts: object) -> str:
    return "-".join(re.sub(r"[^\w.]+", "_", str(part)).strip("_") for part in parts)


@dataclass(frozen=True)
class TriedSetting(Record):
    """A setting of the budget and its run, whose values are all ``None`` if it diverged.

    Args:
        setting: the setting
        val_score: the validation metric at the best epoch
        val_loss: the validation loss there
        seconds: duration of an epoch; the engine trains all settings at once, autograd one by one
    """

    setting: BudgetSetting
    val_score: float | None = None
    val_loss: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, setting: BudgetSetting, run: Run | None) -> TriedSetting:
        """The record of a setting and its run, which is ``None`` if it diverged."""
        if run is None:
            return cls(setting)
        return cls(setting, run.val_score, run.val_loss, run.seconds / run.epochs)


@dataclass(frozen=True)
class BoardLayer(Record):
    """The measures of a layer of a trained model; see :class:`~graphsct.diagnosis.LayerReport`.

    Args:
        smoothness: median normalized smoothness of the live dimensions, ``None`` if all are dead
        relative_distance: distance to the eigenspace over norm
        normalized_dirichlet_energy: Dirichlet energy over squared norm
        effective_rank: effective rank
        numerical_rank: numerical rank
        gradient_norm: norm of the gradient of the loss with respect to the features
    """

    smoothness: float | None
    relative_distance: float
    normalized_dirichlet_energy: float
    effective_rank: float
    numerical_rank: float
    gradient_norm: float

    @classmethod
    def of(cls, report: LayerReport) -> BoardLayer:
        """The measures in a report, to four digits."""
        median = None if report.quartiles is None else _short(report.quartiles[1])
        rest = (_short(getattr(report, each.name)) for each in fields(cls)[1:])
        return cls(median, *rest)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


@dataclass(frozen=True)
class BoardCell(Record, flat=("key",), error=ExperimentError):
    """A finished cell.

    Args:
        key: key of the cell
        seeds: number of seeds
        epochs: the most epochs of a run
        metric: name of the metric
        tried: the settings of the budget
        chosen: the setting that validation chose, ``None`` if all diverged
        runs: two per seed, one for each rule that selects the epoch
        backend: the backend that computed the epochs
        layers: measures of the model of the first seed at the epoch of the best validation metric,
            if it was inspected
        cost: processor time of an epoch over that without the remedy, measured in turns;
            ``None`` if there is no remedy, or nothing was measured
        failure: why there are no runs, if the weights diverged
        command: command that runs the cell again
        versions: versions of the software
    """

    key: BoardKey
    seeds: int
    epochs: int
    metric: str
    tried: tuple[TriedSetting, ...]
    chosen: BudgetSetting | None = None
    runs: tuple[ScoredRun, ...] = ()
    backend: str | None = None
    layers: tuple[BoardLayer, ...] = ()
    cost: float | None = None
    failure: str | None = None
    command: str = ""
    versions: dict[str, Any] | None = None

    @property
    def measure(self) -> Metric:
        """The metric itself."""
        return METRICS[self.metric]

    @property
    def seconds(self) -> float | None:
        """Duration of an epoch with the chosen setting, ``None`` if there is none."""
        found = (tried.seconds for tried in self.tried if tried.setting == self.chosen)
        return next(found, None)

    def scores(self, select: str = "val_score") -> list[float]:
        """Test scores in the unit in which they are shown, one per seed."""
        return [self.measure.scaled(r.test_score) for r in self.runs if r.select == select]

    @property
    def mean(self) -> float:
        """Mean test score at the epoch of the best validation metric."""
        return fmean(self.scores())

    def show(self, select: str = "val_score") -> str:
        """Mean ± standard deviation of the test scores."""
        return self.measure.show([r.test_score for r in self.runs if r.select == select])

    def write(self, folder: Path) -> Path:
        """Write the cell under its name, atomically."""
        path = folder / f"{self.key.name}.json"
        write_json(path, self.to_dict())
        return path

    @classmethod
    def read(cls, path: Path) -> Self:
        """The cell in a file."""
        return cls.from_file(path, "is not a cell of a leaderboard")

    @classmethod
    def read_all(cls, folder: Path) -> Sequence[Self]:
        """All cells in a folder, or an error if there is none."""
        # A killed process may leave files whose names begin with a dot.
        found = [cls.read(path) for path in sorted(folder.glob("[!.]*.json"))]
        if not found:
            raise ExperimentError(
                f"there is no cell in {folder}; "
                "graphsct.remedies.leaderboard.compare_remedies(...) writes them"
            )
        return found
