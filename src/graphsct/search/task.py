"""What is searched, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from graphsct.errors import TrainingError
from graphsct.names import pick
from graphsct.nn.activations import ACTIVATIONS
from graphsct.nn.controls import CONTROLS
from graphsct.training.config import Config, ModelConfig, TrainConfig, check

__all__ = ["WIDTHS", "Found", "Task"]

#: Numbers of channels of the paper's grid.
WIDTHS = (16, 32, 64, 128)
# Those with which models are trained together.
_ACTIVATIONS = dict(ACTIVATIONS)


@dataclass(frozen=True)
class Task(Config):
    """Whose settings are searched, and by which rule.

    Args:
        data: name of a data set
        model: ``gcn``, ``gcnii`` or ``egnn``
        control: ``pooled``, ``gated`` or ``gated_full``, or none
        depth: number of convolutions; if none, 2, 4, 8 and 16 are tried
        activation: by name; if none, ``relu`` and ``leaky_relu`` are tried, for ``egnn`` also
            ``srelu``, and for ``egnn`` without control ``srelu`` alone
        select: what chooses the epoch of a run and scores a trial: ``val_accuracy`` or ``val_loss``
        normalize: whether each row of features is made to sum to one; if none, both are tried
        max_hidden: most channels

    Example:
        >>> Task("cora", "gcnii", "gated", 16).select
        'val_accuracy'
    """

    data: str
    model: str
    control: str | None
    depth: int | None
    activation: str | None = None
    select: str = "val_accuracy"
    normalize: bool | None = None
    max_hidden: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        ModelConfig(model=self.model)
        TrainConfig(select=self.select)
        if self.control is not None:
            pick(CONTROLS, self.control, "control")
        if self.activation is not None:
            pick(_ACTIVATIONS, self.activation, "activation to search with")
        if self.depth is not None:
            check(self, "depth", self.depth >= 1, "at least 1")
        if self.max_hidden is not None:
            check(self, "max_hidden", self.max_hidden >= WIDTHS[0], f"at least {WIDTHS[0]}")


@dataclass(frozen=True)
class Found:
    """The best settings, by validation alone: no test node has been looked at.

    Args:
        task: what was searched
        model: of the best trial
        train: of the best trial
        normalize: whether its rows of features sum to one
        score: its mean validation accuracy, or loss if the task says so
        trials: how many there were
        pruned: how many of them were given up early
        failed: how many of them diverged, or ended every process that tried them
        seed: of the search, and of the first run of each trial
        seeds_per_trial: runs of each trial; of data with several splits, run i uses split i modulo
            their number
        seconds: of training, of all trials and the finals
        finalists: how many of the best trials had five times as many runs before the best of them
            was chosen; the score is then of these runs
        interrupted: whether Ctrl-C ended it
    """

    task: Task
    model: ModelConfig
    train: TrainConfig
    normalize: bool
    score: float
    trials: int
    pruned: int
    failed: int
    seed: int
    seeds_per_trial: int
    seconds: float
    finalists: int = 0
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v.to_dict() if isinstance(v, Config) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Take what :meth:`to_dict` gave; further names, such as those in a file, are left out."""
        needed = [field.name for field in fields(cls) if field.default is MISSING]
        missing = [name for name in needed if name not in values]
        if missing:
            raise TrainingError(f"what was found has no {missing[0]!r}; take a search's best.json")
        own = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        for name, kind in (("task", Task), ("model", ModelConfig), ("train", TrainConfig)):
            own[name] = kind.from_dict(values[name])
        return cls(**own)
