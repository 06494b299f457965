"""The task of a search, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphsct.names import pick
from graphsct.nn import ACTIVATIONS, CONTROLS
from graphsct.records import Record
from graphsct.training.config import (
    Config,
    ModelConfig,
    TrainConfig,
    check,
    check_options,
    check_select,
)
from graphsct.training.metrics import METRICS
from graphsct.training.selection import Criterion

__all__ = ["WIDTHS", "Found", "Task"]

#: Numbers of channels: those of the paper's grid, and 256, which GCNII's authors use.
WIDTHS = (16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Task(Config):
    """The model whose settings are searched, and the criterion.

    Args:
        data: name of a data set, or a folder or file, as for
            :func:`~graphsct.datasets.open_data.open_data`
        model: a name in :data:`graphsct.nn.MODELS`, such as ``gcn`` or ``pyg:GAT``
        control: a name in :data:`graphsct.nn.CONTROLS`, such as ``pooled``, or none
        depth: number of convolutions; ``None`` tries 2, 4, 8, 16 and 32
        activation: name of the activation; ``None`` tries the model's choices, which are ``relu``
            and ``leaky_relu`` for most models
        select: the criterion that selects the epoch of a run and scores a trial, ``val_score``,
            the metric of the validation nodes, or ``val_loss``
        normalize: whether each row of features is made to sum to one; ``None`` tries both
        max_hidden: largest number of channels
        metric: a name in :data:`graphsct.training.METRICS`; defaults to that of the data
        options: options of the model's constructor that are fixed and not searched, by name

    Example:
        >>> Task("cora", "gcnii", "gated", 16).select
        'val_score'
    """

    data: str
    model: str
    control: str | None
    depth: int | None
    activation: str | None = None
    select: str = "val_score"
    normalize: bool | None = None
    max_hidden: int | None = None
    metric: str | None = None
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        fixed = {"depth": self.depth, "activation": self.activation, "hidden": self.max_hidden}
        given = [name for name, value in fixed.items() if value is not None]
        check_options(self.model, [*given, *self.options])
        check_select(self)
        if self.metric is not None:
            pick(METRICS, self.metric, "metric")
        if self.control is not None:
            pick(CONTROLS, self.control, "control")
        if self.activation is not None:
            pick(ACTIVATIONS, self.activation, "activation")
        if self.depth is not None:
            check(self, "depth", self.depth >= 1, "at least 1")
        if self.max_hidden is not None:
            check(self, "max_hidden", self.max_hidden >= WIDTHS[0], f"at least {WIDTHS[0]}")

    @property
    def criterion(self) -> Criterion:
        """The criterion for the best epoch and the best trial."""
        return Criterion(self.select, METRICS[self.metric or "accuracy"])


@dataclass(frozen=True)
class Found(Record, way_out="; take a search's best.json"):
    """The best settings by validation alone. The search never looked at a test node.

    Args:
        task: the task of the search
        model: settings of the best trial's model
        train: settings of the best trial's training
        normalize: whether the best trial made rows of features sum to one
        score: mean of the criterion over the runs of the best trial
        trials: number of trials
        pruned: number of trials that were pruned
        failed: number of trials that diverged, or ended every process that tried them
        seed: seed of the search, and of the first run of each trial
        seeds_per_trial: runs of each trial; with several splits, run i uses split i modulo their
            number
        seconds: duration of training, of all trials and the finals
        finalists: how many of the best trials had five times as many runs before the best of them
            was chosen; the score is then the mean over these runs
        interrupted: whether Ctrl-C ended the search
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
