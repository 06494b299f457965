"""What a remedy against over-smoothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch

from graphsct.errors import GraphsctError, ModelError
from graphsct.nn import MODELS, Model
from graphsct.nn.model_file import is_model
from graphsct.training.config import ModelConfig, TrainConfig

__all__ = ["FAMILIES", "Change", "Number", "Remedy"]

#: The families of remedies, by what they change.
FAMILIES = {
    "starts": "the weights, at the start, by their decay or in the first epochs",
    "norms": "the features before each activation",
    "connections": "the features that a layer gets",
    "drops": "what is left out in training",
    "losses": "the loss",
    "controls": "the smoothness of the features",
    "baselines": "nothing, or the depth",
}

#: ``change(model, data, value)`` changes a model in place; the value is that of the number.
Change = Callable[[torch.nn.Module, Any, Any], None]

#: Our models that remedies are meant for, unless they name others.
_OURS = ("gcn", "gcnii", "egnn")
#: Settings that mean the same in every model. ``init`` does not: each model has its own start.
_SHARED = ("depth", "hidden", "dropout", "conv_dropout", "activation", "negative_slope")
_OF_TRAINING = {each.name for each in fields(TrainConfig)}
_OF_MODEL = {each.name for each in fields(ModelConfig)} - {"options"}


@dataclass(frozen=True)
class Number:
    """The one number of a remedy; the budget tries two values of it.

    Args:
        setting: the setting that it sets: ``name``, or ``name.key`` for a setting with options
        choices: two values to try, the usual one first
    """

    setting: str
    choices: tuple[Any, Any]

    @property
    def name(self) -> str:
        """Its own name."""
        return self.setting.rpartition(".")[2]


@dataclass(frozen=True)
class Remedy:
    """Something that people do against over-smoothing.

    For our models it is a change of settings (:meth:`configure`), for any other model a change of
    the model itself (:meth:`apply`).

    Args:
        name: its name in commands, such as ``pair_norm``
        title: its name in tables and figures
        family: one of :data:`FAMILIES`
        source: authors and year
        link: the paper
        claim: why it should help, in one sentence
        line: the line that a user writes
        settings: settings of our models or of training that it changes
        number: its own number, if it has one
        change: changes a model in place, if that is possible
        reason: for a remedy without ``change``, why not
        ours_only: whether ``change`` needs a model of :mod:`graphsct.nn`
        bases: names of our models that it can be a remedy for

    Example:
        >>> from graphsct.remedies import REMEDIES
        >>> model, train = REMEDIES["pair_norm"].configure(ModelConfig(), TrainConfig(), 10.0)
        >>> model.norm, model.options
        ('PairNorm', {'norm_options': {'scale': 10.0}})
    """

    name: str
    title: str
    family: str
    source: str
    link: str
    claim: str
    line: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    number: Number | None = None
    change: Change | None = None
    reason: str = ""
    ours_only: bool = False
    bases: tuple[str, ...] = _OURS

    @property
    def value(self) -> Any:
        """The usual value of its number, ``None`` if it has none."""
        return None if self.number is None else self.number.choices[0]

    @property
    def applies(self) -> bool:
        """Whether :meth:`apply` takes models that are not ours."""
        return self.change is not None and not self.ours_only

    @property
    def models(self) -> list[str]:
        """Names of our models that :meth:`configure` takes."""
        return [name for name in self.bases if self._fits(ModelConfig(model=name))]

    def _fits(self, model: ModelConfig) -> bool:
        try:
            self.configure(model, TrainConfig())
        except GraphsctError:
            return False
        return True

    def configure(
        self, model: ModelConfig, train: TrainConfig, value: Any = None
    ) -> tuple[ModelConfig, TrainConfig]:
        """The settings of a model and its training with this remedy.

        Args:
            model: settings of one of our models
            train: settings of training
            value: value of the remedy's number; defaults to the usual one
        """
        if not is_model(MODELS[model.model]):
            raise ModelError(
                f"{self.name} has no settings for {model.model}, which is not a model of "
                "graphsct.nn; build that model and change it with Remedy.apply"
            )
        wanted = self.wanted(model, value)
        own = {name: to for name, to in wanted.items() if name in _OF_TRAINING}
        rest = {name: to for name, to in wanted.items() if name not in _OF_TRAINING}
        return _with_settings(model, rest), replace(train, **own)

    def wanted(self, model: ModelConfig, value: Any) -> dict[str, Any]:
        """The settings to change, including that of the number.

        Args:
            model: settings of the model
            value: value of the number; defaults to the usual one
        """
        wanted = dict(self.settings)
        if self.number is not None:
            chosen = self.value if value is None else value
            name, _, key = self.number.setting.partition(".")
            wanted[name] = {**wanted.get(name, {}), key: chosen} if key else chosen
        elif value is not None:
            raise ModelError(self._no_number(value))
        return wanted

    def apply(self, model: torch.nn.Module, data: Any = None, value: Any = None) -> torch.nn.Module:
        """Change a model in place, before its training.

        Args:
            model: one of ours, of PyTorch Geometric, or any other
            data: the data it is made for, which some remedies need; they also tell whether the last
                convolution is the output layer
            value: value of the remedy's number; defaults to the usual one

        Returns:
            The model itself

        Raises:
            ModelError: if the remedy does not fit the model

        Example:
            >>> from torch_geometric.nn import GAT
            >>> from graphsct.remedies import REMEDIES
            >>> model = REMEDIES["pair_norm"].apply(GAT(5, 8, num_layers=3, out_channels=2))
            >>> [type(conv).__name__ for conv in model.convs]
            ['NormalizedConv', 'NormalizedConv', 'GATConv']
        """
        if self.change is None:
            raise ModelError(
                f"{self.name} cannot be added to a model: {self.reason}; write {self.line}"
            )
        if self.ours_only and not isinstance(model, Model):
            raise ModelError(
                f"{self.name} needs the features after each activation, which "
                f"{type(model).__name__} does not show; write {self.line}"
            )
        if value is not None and self.number is None:
            raise ModelError(self._no_number(value))
        self.change(model, data, self.value if value is None else value)
        return model

    def _no_number(self, value: Any) -> str:
        return f"{self.name} has no number to choose, but value is {value!r}; leave value out"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        number = None
        if self.number is not None:
            number = {"name": self.number.name, "choices": list(self.number.choices)}
        plain = ("name", "title", "family", "source", "link", "claim", "line")
        return {
            **{name: getattr(self, name) for name in plain},
            "changes": FAMILIES[self.family],
            "settings": dict(self.settings),
            "number": number,
            "models": self.models,
            "applies": self.applies,
            "reason": self.reason,
        }


def _with_settings(model: ModelConfig, wanted: Mapping[str, Any]) -> ModelConfig:
    """A model with other settings; if the model changes, it keeps the shared ones that it takes."""
    own = {name: to for name, to in wanted.items() if name in _OF_MODEL}
    options = {name: to for name, to in wanted.items() if name not in _OF_MODEL}
    kept = model.to_dict()
    if own.get("model", model.model) != model.model:
        takes = MODELS[own["model"]].takes
        kept = {k: v for k, v in kept.items() if k in _SHARED and takes(k)}
    before = dict(kept.pop("options", {}))
    for name in ("norm", "residual", "control"):  # another one has options of its own
        if name in wanted:
            before.pop(f"{name}_options", None)
    return ModelConfig(**{**kept, **own}, options={**before, **options})
