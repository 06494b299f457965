"""Our version of a cell of the paper: its settings, their origin, and the result of each run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from graphsct.errors import ExperimentError
from graphsct.extras import stored_results
from graphsct.files import write_json
from graphsct.paper.origin import Allowed, Origin
from graphsct.records import Record
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.scored_run import ScoredRun

__all__ = ["DEEP", "EARLIER", "Cell", "CellSettings", "Key", "Result", "Stored"]

#: From this depth on, results depend on the rule that selects the epoch, so both are reported.
DEEP = 16

#: Folder inside that of the cells, with the first results of cells that were searched again.
EARLIER = "earlier"


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
        if self.train.select == "val_loss":
            return ("val_loss", "val_score")
        return ("val_score", "val_loss") if (self.model.depth or 0) >= DEEP else ("val_score",)


@dataclass(frozen=True)
class Stored(Record, flat=("key",), error=ExperimentError):
    """Results that are stored under the key of their cell, each in a file of its own.

    Args:
        key: key of the cell
    """

    subfolder: ClassVar[str] = ""
    kind: ClassVar[str] = "cell"

    key: Key

    @classmethod
    def path(cls, folder: Path, key: Key) -> Path:
        """The file of a key, in a folder of cells."""
        return folder / cls.subfolder / f"{key.name}.json"

    def write(self, folder: Path) -> Path:
        """Write the results under their name, atomically."""
        path = self.path(folder, self.key)
        write_json(path, self.to_dict())
        return path

    @classmethod
    def read(cls, path: Path) -> Self:
        """The results in a file."""
        found = cls.from_file(path, f"is not a {cls.kind}")
        if path.stem != found.key.name:
            raise ExperimentError(f"{path} is the {cls.kind} {found.key.name}; give it that name")
        return found

    @classmethod
    def read_all(
        cls, folder: Path | None = None, keys: Iterable[Key] | None = None
    ) -> dict[Key, Self]:
        """All results in a folder of cells, by key; only those with ``keys`` if given.

        The default folder is that of the stored results. A missing folder has no results.
        """
        folder = folder or stored_results("paper")
        # A killed process may leave files whose names begin with a dot.
        paths = sorted((folder / cls.subfolder).glob("[!.]*.json"))
        if keys is not None:
            wanted = {cls.path(folder, key) for key in keys}
            paths = [path for path in paths if path in wanted]
        return {found.key: found for found in map(cls.read, paths)}


@dataclass(frozen=True)
class Result(ScoredRun, strict=True):
    """The result of one run of a cell, at the selected epoch.

    Args:
        seconds: duration of training
    """

    seconds: float


@dataclass(frozen=True)
class Cell(Stored):
    """A cell with its runs, or with known settings for runs to come.

    Args:
        key: key of the cell
        settings: settings of all its runs
        found: origin of the settings, ``None`` if they were chosen by hand
        results: one per run and rule that selects the epoch
        command: command that reproduces the cell
        versions: versions of the software
    """

    settings: CellSettings
    found: Origin | None = None
    results: tuple[Result, ...] = ()
    command: str = ""
    versions: dict[str, Any] | None = None

    @property
    def allowed(self) -> Allowed | None:
        """The budget of the search for its settings, ``None`` without a search."""
        return None if self.found is None else self.found.allowed

    @property
    def borrowed(self) -> bool:
        """Whether its settings are another cell's, with another activation."""
        return self.found is not None and self.found.of is not None

    def runs(self, select: str = "val_score") -> list[Result]:
        """The runs whose epoch was selected by ``select``."""
        return [result for result in self.results if result.select == select]

    def accuracies(self, select: str = "val_score") -> list[float]:
        """Test accuracy of each run in percent."""
        return [100 * run.test_score for run in self.runs(select)]
