"""What may be chosen: the paper's grid, and the choices that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsct.search.task import WIDTHS, Task
from graphsct.training.config import OF_ACTIVATION, ModelConfig, TrainConfig

__all__ = ["Space", "chosen_in", "configs", "felt", "few_shapes", "first_choices", "space"]

#: Names of settings, and what each may be.
Space = dict[str, tuple[Any, ...]]

_TENTHS = tuple(k / 10 for k in range(1, 10))
_DECAYS = (0.0, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
_TRAIN = ("learning_rate", "conv_weight_decay", "dense_weight_decay")
_SHAPE = ("depth", "hidden", "activation", "negative_slope", "init")
_RATES = ("dropout", "drop_convs")


def space(task: Task) -> Space:
    """Everything that a trial chooses.

    The paper's grid for the model, and what the paper leaves open: the activation and the slope of
    leaky ReLU, how the convolutions start, whether rows of features sum to one, whether dropout
    also stands before the convolutions of a GCN (``drop_convs``), and for EGNN the share of
    ``c_min`` that goes to the initial features (``share``) and the first offset of SReLU. The
    paper's alpha of EGNN is read as ``c_min``, its theta as that of the control.
    """
    choices: Space = {
        "learning_rate": (1e-4, 1e-3, 1e-2),
        "conv_weight_decay": _DECAYS,
        "dense_weight_decay": _DECAYS,
        "dropout": _TENTHS,
        "hidden": tuple(d for d in WIDTHS if task.max_hidden is None or d <= task.max_hidden),
        "depth": (2, 4, 8, 16) if task.depth is None else (task.depth,),
        "activation": _activations(task),
    }
    if "leaky_relu" in choices["activation"]:
        choices["negative_slope"] = (0.01, 0.1, 0.3)
    if task.normalize is None:
        choices["normalize"] = (False, True)
    gated = task.control is not None and task.control.startswith("gated")
    if task.model == "gcn":
        choices |= {"init": ("identity", "glorot"), "drop_convs": (False, True)}
    elif task.model == "gcnii":
        choices |= {"init": ("uniform", "identity"), "alpha": _TENTHS, "theta": _TENTHS}
    else:
        choices |= {"c_max": (0.5, 1.0, 1.5, 2.0), "c_min": _TENTHS, "share": (0.25, 0.5, 0.75)}
        choices["offset"] = (-10.0, -5.0, -1.0)
    if gated:
        choices["theta"] = _TENTHS
    return choices


def _activations(task: Task) -> tuple[str, ...]:
    if task.activation is not None:
        return (task.activation,)
    if task.model != "egnn":
        return ("relu", "leaky_relu")
    return ("srelu",) if task.control is None else ("srelu", "relu", "leaky_relu")


def first_choices(task: Task) -> list[dict[str, Any]]:
    """Settings that are known to be good, for the first trials."""
    choices = space(task)
    return [
        {name: _nearest(given.get(name), choices[name]) for name in choices}
        for given in (_KNOWN[task.model] | change for change in _CHANGES[task.model])
    ]


_KNOWN: dict[str, dict[str, Any]] = {
    "gcn": dict(learning_rate=0.01, conv_weight_decay=0.0, dense_weight_decay=5e-4, dropout=0.5)
    | dict(hidden=64, init="identity", drop_convs=False, theta=0.5),
    "gcnii": dict(learning_rate=0.01, conv_weight_decay=0.01, dense_weight_decay=5e-4, dropout=0.6)
    | dict(hidden=64, init="uniform", alpha=0.1, theta=0.5, normalize=True),
    "egnn": dict(learning_rate=0.01, conv_weight_decay=0.01, dense_weight_decay=5e-4, dropout=0.6)
    | dict(hidden=64, c_max=1.0, c_min=0.2, share=0.5, offset=-10.0, theta=0.5, normalize=True),
}
# For sets with many labels, such as Squirrel.
_WIDE = dict(hidden=128, dropout=0.2, conv_weight_decay=0.0, dense_weight_decay=1e-4)
_CHANGES: dict[str, list[dict[str, Any]]] = {
    "gcn": [
        {},
        {"activation": "leaky_relu", "negative_slope": 0.3},
        _WIDE,
        {"hidden": 16},
        {"drop_convs": True, "dense_weight_decay": 5e-3},
        {"learning_rate": 1e-3, "dropout": 0.8},
    ],
    "gcnii": [
        {},
        {"normalize": False},
        {**_WIDE, "normalize": False},
        {"alpha": 0.5, "dropout": 0.5},
        {"conv_weight_decay": 5e-4, "activation": "leaky_relu"},
        {"learning_rate": 1e-3, "dropout": 0.8},
        {"dropout": 0.7, "theta": 0.6},
        {"conv_weight_decay": 5e-4, "dropout": 0.5, "theta": 0.4},
    ],
    # Its penalty keeps the weights of convolutions small, but not those of a control: with 0.01
    # both are held back alike.
    "egnn": [
        {},
        {"normalize": False},
        {"offset": -1.0},
        {"conv_weight_decay": 0.0},
        {"c_min": 0.7, "share": 0.25},
    ],
}


def _nearest(value: Any, choices: tuple[Any, ...]) -> Any:
    """The choice itself, the nearest number, or the first."""
    if value in choices:
        return value
    if isinstance(value, int | float):
        return min(choices, key=lambda choice: abs(choice - value))
    return choices[0]


def few_shapes(choices: Space) -> bool:
    """Whether trials often have the same shape, so that they can be trained together."""
    return set(choices) <= {*_TRAIN, *_RATES, *_SHAPE, "normalize"}


def configs(
    task: Task, chosen: Mapping[str, Any], *, epochs: int, patience: int, seed: int
) -> tuple[ModelConfig, TrainConfig]:
    """The two configurations of a trial."""
    values = dict(chosen)
    values.pop("normalize", None)  # that is for the data
    train = TrainConfig(
        epochs=epochs,
        patience=patience,
        select=task.select,
        seed=seed,
        **{name: values.pop(name) for name in _TRAIN},
    )
    if values.pop("drop_convs", False):
        values["conv_dropout"] = values["dropout"]
    if "share" in values:
        values["beta"] = values.pop("share") * values["c_min"]
    return ModelConfig(model=task.model, control=task.control, **felt(values)), train


def felt(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a difference: without what only another activation has.

    Example:
        >>> felt({"hidden": 16, "activation": "relu", "negative_slope": 0.1})
        {'hidden': 16, 'activation': 'relu'}
    """
    own = chosen.get("activation")
    return {name: chosen[name] for name in chosen if OF_ACTIVATION.get(name, own) == own}


def chosen_in(
    task: Task, model: ModelConfig, train: TrainConfig, normalize: bool = False
) -> dict[str, Any]:
    """What a trial of a task would choose to be nearest to given configurations.

    Example:
        >>> task = Task("cora", "gcn", None, 16)
        >>> chosen = first_choices(task)[2]
        >>> chosen_in(task, *configs(task, chosen, epochs=9, patience=9, seed=0)) == chosen
        True
    """
    given = {**model.to_dict(), **train.to_dict(), "normalize": normalize}
    given["drop_convs"] = bool(given["conv_dropout"])
    if model.beta is not None and model.c_min:
        given["share"] = model.beta / model.c_min
    return {name: _nearest(given.get(name), these) for name, these in space(task).items()}
