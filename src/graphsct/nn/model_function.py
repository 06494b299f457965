"""Functions, and classes that are not ours, with which a user builds models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.nn.blueprint import (
    DEFAULTS,
    ForeignModel,
    Space,
    call_constructor,
    num_inputs,
    num_outputs,
)
from graphsct.nn.control_model import THETA, add_control_for

__all__ = ["ModelFunction", "depth_argument"]

#: Usual names of the arguments for the sizes of a model.
_SYNONYMS = {
    "depth": ("num_layers", "depth", "n_layers", "layers"),
    "hidden": ("hidden", "hidden_channels", "hidden_dim", "hidden_size"),
    "dropout": ("dropout",),
}
# Settings of the control, which a function may take itself.
_OF_CONTROL = ("control", "theta", "control_options")


@dataclass
class ModelFunction(ForeignModel):
    """A function in a user's file that builds models; a class of models is one as well.

    It is called with the data, or with the numbers of features and outputs if it requires two
    arguments, and with all settings that it takes, by their names. A depth and a width have the
    usual names: ``num_layers`` or ``depth``, ``hidden_channels`` or ``hidden``.

    Args:
        name: file and name in it, ``my_model.py:build``
        function: the function
        path: path of the file
        space: the choices of a search, of the settings of training, of the sizes and of the
            function's other arguments
    """

    name: str
    function: Callable[..., Any]
    path: str
    space: Space = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name in tables and figures."""
        return self.name

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        if getattr(self.function, "__init__", None) is torch.nn.Module.__init__:
            return {}  # it has a **kwargs, of which it takes none
        return dict(inspect.signature(self.function).parameters)

    @property
    def _takes_all(self) -> bool:
        return any(p.kind is p.VAR_KEYWORD for p in self._parameters.values())

    def _argument(self, size: str) -> str | None:
        """Name of the argument for a depth, width or dropout; none if there is none."""
        found = next((name for name in _SYNONYMS[size] if name in self._parameters), None)
        return size if found is None and self._takes_all else found

    def options(self) -> tuple[str, ...]:
        """Names of the arguments that have a default, and the settings of a control."""
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        sizes = [self._argument(size) for size in ("depth", "hidden")]
        own = [
            name
            for name, p in self._parameters.items()
            if p.kind in kinds and p.default is not p.empty and name not in sizes
        ]
        return tuple(dict.fromkeys([*own, *_OF_CONTROL]))

    def takes(self, setting: str) -> bool:
        """Whether the function has an argument for a setting, or the control has."""
        if setting in _SYNONYMS and self._argument(setting) is not None:
            return True
        return self._takes_all or setting in self._parameters or setting in _OF_CONTROL

    def defaults(self) -> Mapping[str, Any]:
        """The function's own depth, width and dropout, none if it takes none."""
        return {size: self._default(size) for size in DEFAULTS}

    def _default(self, size: str) -> Any:
        argument = self._argument(size)
        if argument is None:
            return None
        own = getattr(self._parameters.get(argument), "default", None)
        return own if isinstance(own, int | float) else DEFAULTS[size]

    def searched(self) -> tuple[str, ...]:
        """The weight decay, the sizes that the function takes, and an activation in its space."""
        named = [name for name in ("activation",) if name in self.space]
        return ("dense_weight_decay", *filter(self.takes, DEFAULTS), *named)

    def search_space(self, control: str | None) -> Space:
        """The ``space`` of the user's file."""
        return self.space

    def build(
        self,
        data: Any,
        *,
        hidden: int | None,
        depth: int | None,
        control: str | None,
        options: Mapping[str, Any],
    ) -> torch.nn.Module:
        """A new model for some data; see :class:`~graphsct.nn.blueprint.Blueprint`."""
        given = self._with_sizes(options, {"depth": depth, "hidden": hidden})
        theta, control_options = given.get("theta", THETA), given.get("control_options")
        for name in ("theta", "control_options"):
            if name not in self._parameters:
                given.pop(name, None)
        if "control" in self._parameters:
            given["control"], control = control, None
        given |= self._of_data(data, given)
        positional = [
            given.pop(name)
            for name, p in self._parameters.items()
            if p.kind is p.POSITIONAL_ONLY and name in given
        ]
        model = call_constructor(self.function, self.name, *positional, **given)
        if not isinstance(model, torch.nn.Module):
            raise ModelError(
                f"{self.name} returned a {type(model).__name__}, expected a torch.nn.Module"
            )
        return add_control_for(data, model, control, theta, control_options, last=True)

    def _with_sizes(
        self, options: Mapping[str, Any], sizes: Mapping[str, int | None]
    ) -> dict[str, Any]:
        """The options and the sizes under the names of the function's arguments."""
        given = dict(options)
        for size, value in sizes.items():
            argument = self._argument(size)
            if argument in given:
                raise ModelError(
                    f"{argument} of {self.name} is its {size}: pass {size}={given[argument]}"
                )
            if argument is not None and value is not None:
                given[argument] = value
        return given

    def _of_data(self, data: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """The required arguments that no setting gives: the data, or two sizes."""
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        required = [
            name
            for name, p in self._parameters.items()
            if p.kind in positional and p.default is p.empty and name not in given
        ]
        if len(required) < 2:
            return dict.fromkeys(required, data)
        if len(required) > 2 or "data" in required:
            raise ModelError(
                f"{self.name} takes {', '.join(required)}; expected (data) or (in_channels, "
                "out_channels); give all others a default"
            )
        return dict(zip(required, (num_inputs(data), num_outputs(data)), strict=True))


def depth_argument(build: Callable[..., Any]) -> str | None:
    """Name of a function's argument for the number of layers, ``None`` if there is none."""
    taken = inspect.signature(build).parameters
    return next((name for name in _SYNONYMS["depth"] if name in taken), None)
