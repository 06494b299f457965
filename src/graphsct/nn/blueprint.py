"""The protocol of everything that builds models, and the registry of models by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

import torch

from graphsct.errors import GraphsctError, ModelError
from graphsct.names import nearest
from graphsct.python_file import explain

__all__ = [
    "DEFAULTS",
    "MODELS",
    "Blueprint",
    "ForeignModel",
    "Space",
    "call_constructor",
    "get_model",
    "num_inputs",
    "num_outputs",
]

#: Settings by name, with the values that a search may choose for each.
Space = Mapping[str, tuple[Any, ...]]

#: The sizes of a model, and its rate of dropout, if nobody names others.
DEFAULTS: Mapping[str, Any] = {"depth": 2, "hidden": 64, "dropout": 0.5}

T = TypeVar("T")


class Blueprint(Protocol):
    """Anything that builds models of one kind for some data.

    It is a subclass of :class:`~graphsct.nn.Model`, a model of PyTorch Geometric
    (:class:`~graphsct.nn.geometric.GeometricModel`) or a function of a user
    (``graphsct.nn.model_function``).

    Attributes:
        name: the name in settings and commands, such as ``gcn``
        title: the name in tables and figures, such as ``GCN``
        default_control: the control that suits the model best, by name
        known_settings: good settings, which a search tries first; a setting that is left out has
            the first of its choices
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def default_control(self) -> str: ...  # noqa: D102
    @property
    def known_settings(self) -> tuple[Mapping[str, Any], ...]: ...  # noqa: D102

    def options(self) -> tuple[str, ...]:
        """Names of the options that a model takes besides its depth and its width."""

    def takes(self, setting: str) -> bool:
        """Whether there is such an option, or a depth or width that can be set."""

    def defaults(self) -> Mapping[str, Any]:
        """The depth, width and dropout of a model if they are left out, none if it takes none."""

    def searched(self) -> tuple[str, ...]:
        """The settings that models share, such as ``hidden``, of which a search tries several."""

    def search_space(self, control: str | None) -> Space:
        """The choices of this model, which a search adds to those that all models share."""

    def from_choices(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The options for the choices of a search, where the names differ."""

    def to_choices(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of :meth:`from_choices`."""

    def build(
        self,
        data: Any,
        *,
        hidden: int | None,
        depth: int | None,
        control: str | None,
        options: Mapping[str, Any],
    ) -> torch.nn.Module:
        """A new model for some data.

        Args:
            data: with ``num_features`` and ``num_outputs`` or ``num_classes``
            hidden: number of channels, none if the model takes no such number
            depth: number of layers, none if the model takes no such number
            control: name of the control, or none
            options: options by name
        """


class ForeignModel:
    """The base of blueprints whose models are not ours."""

    default_control: ClassVar[str] = "gated"
    known_settings: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"learning_rate": 0.01, "dense_weight_decay": 5e-4, "dropout": 0.5, "hidden": 64},
    )

    def from_choices(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The same: choices are options."""
        return dict(chosen)

    def to_choices(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The same: options are choices."""
        return dict(options)


#: The models by name.
MODELS: dict[str, Blueprint] = {}


def get_model(name: Any) -> Blueprint:
    """The model with this name, or an error with the nearest right name."""
    if name not in MODELS:
        raise ModelError(
            f"there is no model {name!r}{nearest(name, MODELS)}, or add your own with "
            "graphsct.nn.register(...)"
        )
    return MODELS[name]


def num_inputs(data: Any) -> int:
    """Number of features of each node or graph of these data."""
    x = getattr(data, "x", None)
    if isinstance(x, torch.Tensor) and not x.dim():
        raise ModelError("the features of the data are a single number, expected shape (n, d)")
    return int(data.num_features)


def num_outputs(data: Any) -> int:
    """Number of outputs of a model for these data: ``num_outputs``, else the number of classes."""
    for name in ("num_outputs", "num_classes"):
        found = getattr(data, name, None)
        if found is not None:
            return int(found)
    raise ModelError(
        "the data have neither num_outputs nor num_classes; set one of them, or read the data with "
        "graphsct.datasets.from_data(data)"
    )


def call_constructor(make: Callable[..., T], name: str, *args: Any, **options: Any) -> T:
    """Call a class or function that makes a model; its errors become errors of ours.

    Args:
        make: the class or function
        name: its name in the error
        args: its positional arguments
        options: its keyword arguments
    """
    try:
        return make(*args, **options)
    except GraphsctError:
        raise
    except Exception as error:
        raise ModelError(f"{name} cannot be built: {explain(error)}") from error
