"""The search space of a task: the paper's grid, and the choices that the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from graphsct.errors import ModelError
from graphsct.names import nearest
from graphsct.nn import CONTROLS, MODELS
from graphsct.nn.blueprint import Space
from graphsct.nn.controls import TENTHS
from graphsct.nn.model_function import ModelFunction
from graphsct.search.task import WIDTHS, Task
from graphsct.training.config import OF_ACTIVATION, ModelConfig, TrainConfig

__all__ = ["VERSION", "chosen_in", "configs", "few_shapes", "first_choices", "in_effect", "space"]

#: Raised when the space gets new choices; :mod:`graphsct.paper.reach` lists those of version 2.
VERSION = 2

# The paper's grid, and what the authors of GCN, GCNII and EGNN use.
_RATES = (1e-4, 1e-3, 3e-3, 5e-3, 1e-2)
_LEAST_EPOCHS = 200
_DECAYS = (0.0, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
_TRAIN = ("learning_rate", "conv_weight_decay", "dense_weight_decay", "offset_weight_decay")
# Settings in which runs of one shape may differ, and settings that have few choices.
_FEW = {*_TRAIN, "dropout", "drop_convs", "normalize"}
_FEW |= {"depth", "hidden", "activation", "negative_slope", "init"}


def space(task: Task) -> Space:
    """All settings that a trial chooses, with their choices.

    The settings that all models share come first, then those of the model and of the control.
    """
    model = MODELS[task.model]
    own = dict(model.search_space(task.control))
    if isinstance(model, ModelFunction):
        _check_names(model, own)
    activations = own.pop("activation", ("relu", "leaky_relu"))
    shared: dict[str, tuple[Any, ...]] = {
        "conv_weight_decay": _DECAYS,
        "dense_weight_decay": _DECAYS,
        "dropout": TENTHS,
        "hidden": tuple(d for d in WIDTHS if task.max_hidden is None or d <= task.max_hidden),
        "depth": (2, 4, 8, 16, 32) if task.depth is None else (task.depth,),
        "activation": activations if task.activation is None else (task.activation,),
    }
    shared = {name: these for name, these in shared.items() if name in model.searched()}
    if "leaky_relu" in shared.get("activation", ()):
        shared["negative_slope"] = (0.01, 0.1, 0.3)
    if task.normalize is None:
        shared["normalize"] = (False, True)
    of_control = {} if task.control is None else CONTROLS[task.control].search_space
    choices = (
        {"learning_rate": _RATES}
        | shared
        | own
        | {
            name: these
            for name, these in of_control.items()
            if name in model.options() and name not in own
        }
    )
    fixed = task.options | ({} if task.depth is None else {"depth": task.depth})
    return choices | {name: (fixed[name],) for name in choices if name in fixed}


def _check_names(model: ModelFunction, own: Space) -> None:
    """Refuse choices in a user's file that are neither for training nor for the function."""
    for name in own:
        if name not in _TRAIN and not model.takes(name):
            raise ModelError(
                f"{model.path}: space has {name!r}, but {model.name} has no such argument"
                f"{nearest(name, [*model.options(), *_TRAIN])}"
            )


def first_choices(task: Task) -> list[dict[str, Any]]:
    """Settings that are known to be good, for the first trials."""
    choices, known = space(task), MODELS[task.model].known_settings
    return [{name: _nearest(given.get(name), choices[name]) for name in choices} for given in known]


def _nearest(value: Any, choices: tuple[Any, ...]) -> Any:
    """The value itself if it is a choice, else the nearest number, else the first choice."""
    if value in choices:
        return value
    if isinstance(value, int | float) and len(choices) > 1:
        return min(choices, key=lambda choice: abs(choice - value))
    return choices[0]


def few_shapes(choices: Space) -> bool:
    """Whether trials often have equal shapes, so that they can be trained together."""
    return set(choices) <= _FEW


def configs(
    task: Task, chosen: Mapping[str, Any], *, epochs: int, patience: int, seed: int
) -> tuple[ModelConfig, TrainConfig]:
    """The settings of a trial's model and of its training."""
    train = TrainConfig(
        epochs=epochs,
        patience=patience,
        least_epochs=_LEAST_EPOCHS,
        select=task.select,
        metric=task.metric,
        seed=seed,
        **{name: chosen[name] for name in _TRAIN if name in chosen},
    )
    others = {k: v for k, v in chosen.items() if k not in _TRAIN and k != "normalize"}
    values = in_effect({**MODELS[task.model].from_choices(others), **task.options})
    named = {field.name for field in fields(ModelConfig)}
    model = ModelConfig(
        model=task.model,
        control=task.control,
        **{name: value for name, value in values.items() if name in named},
        options={name: value for name, value in values.items() if name not in named},
    )
    return model, train


def in_effect(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in effect, without those of other activations.

    Example:
        >>> in_effect({"hidden": 16, "activation": "relu", "negative_slope": 0.1})
        {'hidden': 16, 'activation': 'relu'}
    """
    own = chosen.get("activation")
    return {name: chosen[name] for name in chosen if OF_ACTIVATION.get(name, own) == own}


def chosen_in(
    task: Task, model: ModelConfig, train: TrainConfig, normalize: bool = False
) -> dict[str, Any]:
    """The choices of a task that are nearest to given settings.

    Example:
        >>> task = Task("cora", "gcn", None, 16)
        >>> chosen = first_choices(task)[2]
        >>> chosen_in(task, *configs(task, chosen, epochs=9, patience=9, seed=0)) == chosen
        True
    """
    options = MODELS[task.model].to_choices(model.to_dict() | model.options)
    given = {**options, **train.to_dict(), "normalize": normalize}
    return {name: _nearest(given.get(name), these) for name, these in space(task).items()}
