"""The settings of models and of training: frozen, checked, and the same in a JSON file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import torch

from graphsct.errors import ModelError, TrainingError
from graphsct.names import nearest, pick
from graphsct.nn import CONTROLS, MODELS
from graphsct.nn.blueprint import DEFAULTS, get_model
from graphsct.nn.model_function import ModelFunction
from graphsct.records import Record, check_types
from graphsct.training.metrics import METRICS
from graphsct.training.precision import PRECISIONS

__all__ = [
    "OF_ACTIVATION",
    "SELECTIONS",
    "Config",
    "ModelConfig",
    "TrainConfig",
    "check",
    "check_options",
    "check_select",
]

#: Settings that belong to one activation, with its name.
OF_ACTIVATION = {"offset": "srelu", "negative_slope": "leaky_relu"}

#: The criteria that can select the best epoch.
SELECTIONS = ("val_loss", "val_score")


# Written only if they are set, so that the files of other runs stay what they were in earlier
# versions.
_IF_GIVEN = (
    "options",
    "metric",
    "precision",
    "batch_size",
    "warm_up",
    "least_epochs",
    "offset_weight_decay",
)


class Config(Record, strict=True, noun="setting"):
    """Settings with types that are checked; those left out keep their defaults."""

    def __post_init__(self) -> None:
        check_types(self)

    def to_dict(self) -> dict[str, Any]:
        """All settings by name; some, such as ``metric``, only if they are set."""
        values = super().to_dict()
        return {k: v for k, v in values.items() if k not in _IF_GIVEN or v}


@dataclass(frozen=True)
class TrainConfig(Config):
    """The settings of training.

    Args:
        epochs: maximum number of epochs
        patience: training stops this many epochs after the best one
        learning_rate: learning rate of Adam
        conv_weight_decay: weight decay of convolutions and their controls, if the model tells them
            apart
        dense_weight_decay: weight decay of all other weights but the offsets of activations
        select: the criterion that selects the best epoch, ``val_score``, the metric of the
            validation nodes, or ``val_loss``; for deep networks it decides the result, so it is
            kept with every result
        seed: seed of the initial weights, of dropout and of the order of graphs
        checkpoint_every: number of epochs between two checkpoints
        metric: a name in :data:`graphsct.training.METRICS`, such as ``roc_auc``; defaults to that
            of the data, else ``accuracy`` for classes, ``average_precision`` for several labels
            and ``r2`` for numbers
        precision: ``bf16``, or ``fp16`` on CUDA, for forward passes under :class:`torch.autocast`,
            by autograd; weights, losses and the products with a graph stay in float32. By default
            everything has the precision of the features
        batch_size: the most graphs of a list in one training step, 32 by default; a single graph
            is trained as a whole
        warm_up: number of epochs in which the learning rate grows linearly to its full value; see
            :meth:`rate`
        least_epochs: number of first epochs in which patience does not count yet; a deep network
            with a small learning rate may not improve for a long time
        offset_weight_decay: weight decay of the offsets of ``srelu``

    Example:
        >>> TrainConfig.from_json('{"patence": 50}')
        Traceback (most recent call last):
        graphsct.errors.TrainingError: there is no setting 'patence', did you mean 'patience'? ...
    """

    epochs: int = 1500
    patience: int = 100
    learning_rate: float = 0.01
    conv_weight_decay: float = 0.0
    dense_weight_decay: float = 5e-4
    select: str = "val_score"
    seed: int = 0
    checkpoint_every: int = 50
    metric: str | None = None
    precision: str | None = None
    batch_size: int | None = None
    warm_up: int = 0
    least_epochs: int = 0
    offset_weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("epochs", "patience", "checkpoint_every"):
            check(self, name, getattr(self, name) >= 1, "at least 1")
        check(self, "batch_size", self.batch_size is None or self.batch_size >= 1, "at least 1")
        for name in ("warm_up", "least_epochs"):
            check(self, name, getattr(self, name) >= 0, "at least 0")
        check(self, "learning_rate", 0 < self.learning_rate < math.inf, "a number above 0")
        for name in ("conv_weight_decay", "dense_weight_decay", "offset_weight_decay"):
            check(self, name, 0 <= getattr(self, name) < math.inf, "a number of at least 0")
        check(self, "seed", 0 <= self.seed < 2**63, "in 0 .. 2^63 - 1")
        check_select(self)
        if self.metric is not None:
            pick(METRICS, self.metric, "metric")
        if self.precision is not None:
            pick(PRECISIONS, self.precision, "precision", TrainingError)

    def shared(self) -> dict[str, Any]:
        """The settings by name that runs with different seeds share: all but the seed."""
        return {name: value for name, value in self.to_dict().items() if name != "seed"}

    def rate(self, epoch: int) -> float:
        r"""The learning rate in an epoch, counted from 1: ``learning_rate`` times
        :math:`\min(1, \text{epoch} / \text{warm\_up})`.

        Example:
            >>> [TrainConfig(learning_rate=1.0, warm_up=4).rate(epoch) for epoch in (1, 2, 4, 5)]
            [0.25, 0.5, 1.0, 1.0]
        """
        return self.learning_rate * min(1, epoch / max(1, self.warm_up))


def check_select(config: Any) -> None:
    """Refuse an unknown criterion for the best epoch; the name of earlier versions is replaced."""
    if config.select == "val_accuracy":
        object.__setattr__(config, "select", "val_score")
    if config.select not in SELECTIONS:
        raise TrainingError(
            f"select is {config.select!r}, which is not a criterion for the best epoch"
            f"{nearest(config.select, SELECTIONS)}"
        )


def check(config: Any, name: str, right: bool, expected: str) -> None:
    """Raise an error if a setting is wrong."""
    if not right:
        raise TrainingError(f"{name} is {getattr(config, name)!r}, expected {expected}")


def check_options(model: str, names: Iterable[str]) -> None:
    """Refuse a setting that a model does not take.

    Args:
        model: name of a model
        names: names of settings
    """
    chosen = get_model(model)
    for name in names:
        if not chosen.takes(name):
            others = [key for key, other in MODELS.items() if name in other.options()]
            if isinstance(chosen, ModelFunction):
                others = []  # the user can give it an argument of that name
            raise ModelError(
                f"{name} is not for {model}, only for {' and '.join(others)}"
                if others
                else f"{model} has no option {name!r}{nearest(name, chosen.options())}"
            )


@dataclass(frozen=True)
class ModelConfig(Config):
    """The settings of a model; ``None`` keeps the model's own default.

    Args:
        model: a name in :data:`graphsct.nn.MODELS`, such as ``gcn`` or ``pyg:GAT``
        control: a name in :data:`graphsct.nn.CONTROLS`, such as ``pooled``, or none
        depth: number of convolutions, 2 by default; a function of your own has its own default
        hidden: number of channels, 64 by default, with the same exception
        dropout: rate before the two linear layers, 0.5 by default, with the same exception
        conv_dropout: rate before every convolution
        activation: a name in :data:`graphsct.nn.ACTIVATIONS`
        negative_slope: slope of ``leaky_relu``, 0.01 by default
        norm: name of a norm
        init: name of the convolutions' initial weights (``gcn`` and ``gcnii``)
        alpha: share of the initial features (``gcnii``), or of the first predictions (``appnp``)
        theta: decides beta in layer l, log(theta / l + 1)
        c_min: lower bound on the growth of the energy (``egnn``)
        c_max: upper bound on the growth of the energy (``egnn``)
        beta: share of the initial features (``egnn``)
        offset: initial offsets of ``srelu`` (``egnn``)
        penalty_weight: weight of the distance between weights and their initial values (``egnn``)
        options: further options of the model's constructor by name, such as ``residual``,
            ``jumping`` and ``edge_dropout``, or those of a model of your own

    Example:
        >>> from graphsct.datasets import demo
        >>> model = ModelConfig(model="gcn", control="pooled", depth=4, hidden=16).build(demo())
        >>> model.num_layers
        4
    """

    model: str = "gcn"
    control: str | None = None
    depth: int | None = None
    hidden: int | None = None
    dropout: float | None = None
    conv_dropout: float | None = None
    activation: str | None = None
    negative_slope: float | None = None
    norm: str | None = None
    init: str | None = None
    alpha: float | None = None
    theta: float | None = None
    c_min: float | None = None
    c_max: float | None = None
    beta: float | None = None
    offset: float | None = None
    penalty_weight: float | None = None
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in get_model(self.model).defaults().items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        sizes = [name for name in DEFAULTS if getattr(self, name) is not None]
        check_options(self.model, [*sizes, *self._given()])
        slope = self.negative_slope
        if slope is not None:
            check(self, "negative_slope", 0 < slope < 1, "above 0 and below 1")
            if self.activation != "leaky_relu":
                raise ModelError(
                    f"negative_slope is {slope!r}, but the activation is {self.activation!r}; it "
                    "is only for 'leaky_relu'"
                )

    @property
    def title(self) -> str:
        """The model's name in tables and figures."""
        return MODELS[self.model].title

    @property
    def size(self) -> str:
        """The depth and width in words, as far as the model has them."""
        parts = [f"{self.depth} layers"] if self.depth else []
        return " of ".join(parts + ([f"width {self.hidden}"] if self.hidden else []))

    @property
    def label(self) -> str:
        """A name for folders: the model, its control and its depth, if it has one."""
        parts = [self.model.replace(":", "-"), self.control or "plain", self.depth]
        return "-".join(str(part) for part in parts if part is not None)

    def _given(self) -> dict[str, Any]:
        """The options that differ from the model's defaults."""
        own = ("model", "depth", "hidden", "negative_slope", "options")
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {k: v for k, v in named.items() if k not in own and v is not None} | self.options

    def build(self, data: Any) -> torch.nn.Module:
        """A new model for these data, with random weights from PyTorch's generator.

        Args:
            data: one graph, or a list of graphs, for which a model has a readout
        """
        chosen, options = get_model(self.model), self._given()
        control = options.pop("control", None)
        if self.negative_slope is not None:
            options["activation"] = torch.nn.LeakyReLU(self.negative_slope)
        if hasattr(data, "graphs"):
            more = _options_for_lists(control)
            if more and "control_options" in chosen.options():
                options["control_options"] = {**more, **options.get("control_options", {})}
            if "readout" in chosen.options():
                options.setdefault("readout", "mean")
        return chosen.build(
            data, hidden=self.hidden, depth=self.depth, control=control, options=options
        )


def _options_for_lists(control: str | None) -> Mapping[str, Any]:
    """The options of a control by which the graphs of a batch do not depend on each other."""
    if control is None:
        return {}
    kind = pick(CONTROLS, control, "control")
    if kind.needs_components:
        raise ModelError(
            f"control {control!r} has one weight for each component of one graph, and the data are "
            "many graphs; use control='gated'"
        )
    return getattr(kind, "batch_options", {})
