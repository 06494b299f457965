"""Our version of a cell of the paper: its settings, their origin, and the result of each run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from graphsct.errors import ExperimentError
from graphsct.files import write_json
from graphsct.records import Record
from graphsct.training.config import ModelConfig, TrainConfig

__all__ = ["DEEP", "PACKAGED", "RESULT", "Cell", "CellSettings", "Key", "read_cells", "write_cell"]

#: The cells that come with graphsct.
PACKAGED = Path(__file__).with_name("cells")

#: From this depth on the rule that selects the epoch decides the result, so both are reported.
DEEP = 16

#: The stored fields of a run.
RESULT = (
    "select",
    "seed",
    "split",
    "test_score",
    "val_score",
    "val_loss",
    "best_epoch",
    "epochs",
    "seconds",
)


class Key(NamedTuple):
    """The key of a cell: the settings that are fixed before a search.

    Args:
        dataset: our name of the data set
        model: ``gcn``, ``gcnii`` or ``egnn``
        control: ``pooled``, ``gated`` or none
        depth: number of convolutions, ``None`` if it is searched
        activation: name of the activation, ``None`` if it is searched
    """

    dataset: str
    model: str
    control: str | None
    depth: int | None = None
    activation: str | None = None

    @property
    def name(self) -> str:
        """The name of its file.

        Example:
            >>> Key("cora", "gcn", None, 16).name, Key("texas", "gcnii", "gated").name
            ('cora-gcn-none-16', 'texas-gcnii-gated')
        """
        parts = (self.dataset, self.model, self.control or "none", self.depth, self.activation)
        return "-".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True)
class CellSettings(Record, leave_out=("train.seed",), error=ExperimentError):
    """All settings of a cell's runs but their seeds.

    Args:
        model: settings of the model
        train: settings of training; the seed is not used
        normalize: whether rows of features sum to one
    """

    model: ModelConfig
    train: TrainConfig
    normalize: bool = False

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that select the epoch; results are compared by the first."""
        return ("val_score", "val_loss") if (self.model.depth or 0) >= DEEP else ("val_score",)


@dataclass(frozen=True)
class Cell(Record, flat=("key",), error=ExperimentError):
    """A cell with its runs, or with known settings for runs to come.

    Args:
        key: key of the cell
        settings: settings of all its runs
        found: origin of the settings, ``None`` if they were chosen by hand
        results: one per run, each with the names in :data:`RESULT`
        command: command that reproduces the cell
        versions: versions of the software
    """

    key: Key
    settings: CellSettings
    found: dict[str, Any] | None = None
    results: tuple[dict[str, Any], ...] = ()
    command: str = ""
    versions: dict[str, Any] | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The cell with these plain values; incomplete results are an error."""
        cell = super().from_dict(values)
        for result in cell.results:
            if tuple(result) != RESULT:
                raise ExperimentError(f"a result has {list(result)}, expected {list(RESULT)}")
        return cell

    @property
    def allowed(self) -> dict[str, Any] | None:
        """The ``trials`` and ``seconds`` that its search was allowed, ``None`` without a search."""
        return None if self.found is None else self.found["allowed"]

    @property
    def borrowed(self) -> bool:
        """Whether its settings are another cell's, with another activation."""
        return "of" in (self.found or {})

    def runs(self, select: str = "val_score") -> list[dict[str, Any]]:
        """The runs whose epoch was selected by ``select``."""
        return [result for result in self.results if result["select"] == select]

    def accuracies(self, select: str = "val_score") -> list[float]:
        """Test accuracy of each run in percent."""
        return [100 * run["test_score"] for run in self.runs(select)]


def write_cell(folder: Path, cell: Cell) -> Path:
    """Write a cell under its name, atomically."""
    path = folder / f"{cell.key.name}.json"
    write_json(path, cell.to_dict())
    return path


def read_cells(folder: Path = PACKAGED, keys: Iterable[Key] | None = None) -> dict[Key, Cell]:
    """The cells in a folder by their keys; only those of ``keys`` if they are given.

    A missing folder has no cells.
    """
    wanted = None if keys is None else {f"{key.name}.json" for key in keys}
    # A killed process may leave files whose names begin with a dot.
    paths = sorted(folder.glob("[!.]*.json")) if folder.is_dir() else []
    cells = [_read(path) for path in paths if wanted is None or path.name in wanted]
    return {cell.key: cell for cell in cells}


def _read(path: Path) -> Cell:
    try:
        cell = Cell.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ExperimentError(f"{path} is not a cell: {error}; mend it or delete it") from error
    if path.stem != cell.key.name:
        raise ExperimentError(f"{path} is the cell {cell.key.name}; give it that name")
    return cell
