"""What decides the result of a run, frozen, checked, and the same in a JSON file."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Self, get_args, get_type_hints

import torch

from graphsct.errors import ModelError, TrainingError
from graphsct.graph.cache import graph_of
from graphsct.names import nearest, pick
from graphsct.nn import GCN, GCNII, EnergeticGNN

__all__ = ["MODELS", "OF_ACTIVATION", "SELECTIONS", "Config", "ModelConfig", "TrainConfig", "check"]

#: The models by the name that configurations and the command give them.
MODELS: dict[str, type[GCN | GCNII | EnergeticGNN]] = {
    "gcn": GCN,
    "gcnii": GCNII,
    "egnn": EnergeticGNN,
}

#: Settings of a model that only one activation has, with its name.
OF_ACTIVATION = {"offset": "srelu", "negative_slope": "leaky_relu"}

#: What may choose the best epoch.
SELECTIONS = ("val_loss", "val_accuracy")


class Config:
    """Fields of plain types, to JSON and back."""

    def to_json(self) -> str:
        """All settings as a JSON object."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """All settings by name."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read settings from a JSON object; those left out keep their defaults."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise TrainingError(f"the settings are no JSON: {error}") from error
        return cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Take settings by name; those left out keep their defaults."""
        if not isinstance(values, Mapping):
            raise TrainingError(f"the settings are {values!r}, expected an object with their names")
        names = list(get_type_hints(cls))
        for name in values:
            if name not in names:
                raise TrainingError(f"there is no setting {name!r}{nearest(name, names)}")
        return cls(**values)

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            value = getattr(self, name)
            kinds = get_args(hint) or (hint,)
            if float in kinds and type(value) is int:
                object.__setattr__(self, name, float(value))
            elif type(value) not in kinds:
                wanted = " or ".join(_KINDS[kind] for kind in kinds)
                raise TrainingError(f"{name} is {value!r}, expected {wanted}")


_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    NoneType: "nothing (null)",
}


@dataclass(frozen=True)
class TrainConfig(Config):
    """How to train.

    Args:
        epochs: at most so many
        patience: stop when the best epoch is so many epochs ago
        learning_rate: of Adam
        conv_weight_decay: of convolutions and their controls, if the model tells them apart
        dense_weight_decay: of all other weights
        select: what chooses the best epoch, ``val_loss`` or ``val_accuracy``; for deep networks
            the choice decides the result, so it is kept with every result
        seed: of the first weights and of dropout
        checkpoint_every: so many epochs

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
    select: str = "val_loss"
    seed: int = 0
    checkpoint_every: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("epochs", "patience", "checkpoint_every"):
            check(self, name, getattr(self, name) >= 1, "at least 1")
        check(self, "learning_rate", 0 < self.learning_rate < math.inf, "a number above 0")
        for name in ("conv_weight_decay", "dense_weight_decay"):
            check(self, name, 0 <= getattr(self, name) < math.inf, "a number of at least 0")
        check(self, "seed", 0 <= self.seed < 2**63, "in 0 .. 2^63 - 1")
        if self.select not in SELECTIONS:
            raise TrainingError(
                f"select is {self.select!r}{nearest(self.select, SELECTIONS)}: it names what "
                "chooses the best epoch"
            )


def check(config: Any, name: str, right: bool, expected: str) -> None:
    """Refuse a setting that is not right."""
    if not right:
        raise TrainingError(f"{name} is {getattr(config, name)!r}, expected {expected}")


@dataclass(frozen=True)
class ModelConfig(Config):
    """Which model to build; what is ``None`` is left to the model's own default.

    Args:
        model: ``gcn``, ``gcnii`` or ``egnn``
        control: ``pooled``, ``gated`` or ``gated_full``, or none
        depth: number of convolutions
        hidden: number of channels
        dropout: before the two linear layers
        conv_dropout: before every convolution
        activation: by name
        negative_slope: of ``leaky_relu``, 0.01 if left out
        norm: by name
        init: how convolutions start, by name (``gcn`` and ``gcnii``)
        alpha: share of the initial features (``gcnii``)
        theta: of beta in layer l, log(theta / l + 1)
        c_min: lower bound on the growth of the energy (``egnn``)
        c_max: upper bound on it (``egnn``)
        beta: share of the initial features (``egnn``)
        offset: where the offsets of ``srelu`` start (``egnn``)
        penalty_weight: of the distance of weights from their start (``egnn``)

    Example:
        >>> from graphsct.datasets import demo
        >>> model = ModelConfig(model="gcn", control="pooled", depth=4, hidden=16).build(demo())
        >>> model.num_layers
        4
    """

    model: str = "gcn"
    control: str | None = None
    depth: int = 2
    hidden: int = 64
    dropout: float = 0.5
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

    def __post_init__(self) -> None:
        super().__post_init__()
        pick(MODELS, self.model, "model")
        takers = {key: inspect.signature(made).parameters for key, made in MODELS.items()}
        for name in self._options():
            if name not in takers[self.model]:
                others = " and ".join(key for key, taken in takers.items() if name in taken)
                raise ModelError(f"{name} is not for {self.model}, only for {others}")
        slope = self.negative_slope
        if slope is not None:
            check(self, "negative_slope", 0 < slope < 1, "above 0 and below 1")
            if self.activation != "leaky_relu":
                raise ModelError(
                    f"negative_slope is {slope!r}, but the activation is {self.activation!r}; it "
                    "is only for 'leaky_relu'"
                )

    def _options(self) -> dict[str, Any]:
        own = {"model", "depth", "hidden", "negative_slope"}
        return {k: v for k, v in self.to_dict().items() if k not in own and v is not None}

    def build(self, data: Any) -> torch.nn.Module:
        """A new model for these data, its random weights from PyTorch's generator."""
        options = self._options()
        if self.negative_slope is not None:
            options["activation"] = torch.nn.LeakyReLU(self.negative_slope)
        if self.control == "pooled":
            graph = graph_of(data)
            options["num_components"] = graph.num_components
        return MODELS[self.model](
            data.num_features, self.hidden, data.num_classes, self.depth, **options
        )
