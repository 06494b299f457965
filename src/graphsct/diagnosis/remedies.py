"""Remedies that can be applied without changing the user's code, and their effects."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from graphsct.diagnosis.advice import sound_depth
from graphsct.diagnosis.calling import trainable
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.effect import Effect
from graphsct.errors import ModelError
from graphsct.nn import GCNII, MODELS, add_control
from graphsct.nn.model_file import is_model
from graphsct.nn.model_function import depth_argument
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.device import Device, Mover, find_device
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.seeds import build_seeds, split_of

__all__ = ["AS_IS", "Recipe", "recipes", "try_remedies"]

AS_IS = "as it is"

Build = Callable[..., torch.nn.Module]


@dataclass(frozen=True)
class Recipe:
    """A model to train.

    Args:
        name: name of the remedy, or ``as it is``
        build: function that builds it, with PyTorch's random numbers
        config: settings of training; each run has its own seed
    """

    name: str
    build: Callable[[], torch.nn.Module]
    config: TrainConfig


def try_remedies(
    found: Diagnosis,
    model: ModelConfig | Build,
    data: Any,
    config: TrainConfig | None = None,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    device: Device | None = None,
) -> Diagnosis:
    """Train a model as it is and with each remedy that can be applied to it, and compare.

    Remedies that cannot be applied are listed with the reason. Ctrl-C keeps the finished runs.

    Args:
        found: a diagnosis of this model
        model: its settings, or a function without required arguments that builds a new one; if it
            takes a number of layers, a shallower model can be tried
        data: as for :func:`~graphsct.fit`
        config: settings of training; their seed is not used
        seeds: one per run; on data with several splits, seed ``i`` uses split ``i`` modulo their
            number
        device: as for :func:`~graphsct.fit`

    Returns:
        The diagnosis with its ``effects``

    Example:
        >>> from graphsct.datasets import demo
        >>> from graphsct.diagnosis import diagnose
        >>> from graphsct.training.seeding import seeded
        >>> data, model = demo(), ModelConfig(depth=24, hidden=16, init="glorot")
        >>> with seeded(0):
        ...     found = diagnose(model.build(data), data)
        >>> found = try_remedies(found, model, data, TrainConfig(epochs=2), seeds=[0])
        >>> [effect.name for effect in found.effects]
        ['as it is', 'residual', 'shallower', 'identity', 'control']
    """
    chosen = list(recipes(found, model, data, config or TrainConfig()))
    there = data if device is None else Mover(find_device(device))(data)
    effects, untried = _train(chosen, there, seeds, device)
    for advice in found.advice:
        if advice.name not in {recipe.name for recipe in chosen}:
            untried[advice.name] = "nothing to change, or only by hand"
    return replace(found, effects=effects, untried=untried)


def recipes(
    found: Diagnosis, model: ModelConfig | Build, data: Any, config: TrainConfig
) -> Iterator[Recipe]:
    """The model as it is, then one recipe for each advice that can be applied to it."""
    controlled = isinstance(model, ModelConfig) and model.control is not None
    if isinstance(model, ModelConfig) and not is_model(MODELS[model.model]):
        model = _builder(model, data)
    if isinstance(model, ModelConfig):
        as_is, ways = partial(model.build, data), _ours(found, model, data)
    else:
        as_is, ways = partial(model), _theirs(found, model, data)
        if controlled:
            del ways["control"]
    yield Recipe(AS_IS, as_is, config)
    for advice in found.advice:
        if advice.name in ways:
            yield Recipe(advice.name, ways[advice.name], config)
        elif advice.name == "longer":
            longer = replace(config, epochs=4 * config.epochs, patience=4 * config.patience)
            yield Recipe(advice.name, as_is, longer)


def _builder(model: ModelConfig, data: Any) -> Build:
    """A function that builds a model that is not ours, of any depth if it takes one."""

    def build(depth: int | None = model.depth) -> torch.nn.Module:
        return replace(model, depth=depth).build(data)

    return partial(model.build, data) if model.depth is None else build


def _ours(found: Diagnosis, model: ModelConfig, data: Any) -> dict[str, Build]:
    """Changed settings for a model of :mod:`graphsct.nn`."""
    kept = {key: getattr(model, key) for key in ("depth", "hidden", "dropout", "activation")}
    gcn = model.model == "gcn"
    ways = {
        "identity": replace(model, init="identity") if gcn and model.init else model,
        "residual": ModelConfig("gcnii", **kept) if gcn else model,
        "control": _with_control(model),
        "shallower": replace(model, depth=sound_depth(found.findings, len(found.layers))),
    }
    return {name: partial(way.build, data) for name, way in ways.items() if way != model}


def _with_control(model: ModelConfig) -> ModelConfig:
    """The model with a control, if it takes one."""
    takes = "control" in MODELS[model.model].options()
    return replace(model, control=model.control or "pooled") if takes else model


def _theirs(found: Diagnosis, build: Build, data: Any) -> dict[str, Build]:
    """Changes to a user's model, and GCNII in its place."""
    width = int(statistics.median(layer.channels for layer in found.layers))
    deep = (data.num_features, width, data.num_classes, len(found.layers))
    ways: dict[str, Build] = {
        "identity": lambda: start_at_identity(build(), found),
        "control": lambda: control_layers(build(), found),
        "residual": partial(GCNII, *deep, dropout=0.5),
    }
    argument = depth_argument(build)
    if argument is not None:
        depth = sound_depth(found.findings, len(found.layers))
        ways["shallower"] = partial(build, **{argument: depth})
    return ways


def control_layers(model: torch.nn.Module, found: Diagnosis) -> torch.nn.Module:
    """Give control to every layer of a model that something follows, in place."""
    for layer in found.layers:
        if layer.where != "output" and " " not in layer.name:
            conv = model.get_submodule(layer.name)
            controlled = add_control(conv, "pooled", num_components=found.graph.components)
            parent, _, name = layer.name.rpartition(".")
            setattr(model.get_submodule(parent), name, controlled)
    return model


def start_at_identity(model: torch.nn.Module, found: Diagnosis) -> torch.nn.Module:
    """Start the linear maps of layers that keep their width at the identity, in place."""
    names = {layer.name for layer in found.layers if " " not in layer.name}
    linear = [getattr(model.get_submodule(name), "lin", None) for name in names]
    weights = [weight for part in linear if (weight := getattr(part, "weight", None)) is not None]
    square = [weight for weight in weights if weight.dim() == 2 and len(set(weight.shape)) == 1]
    if not square:
        raise ModelError("no layer has a square weight lin.weight")
    for weight in square:
        torch.nn.init.eye_(weight)
    return model


def _train(
    chosen: Iterable[Recipe], data: Any, seeds: Sequence[int], device: Device | None
) -> tuple[tuple[Effect, ...], dict[str, str]]:
    """The effect of each recipe, and the reasons why others could not be tried."""
    effects: list[Effect] = []
    untried: dict[str, str] = {}
    splits = [split_of(data, seed) for seed in seeds]
    with interruptible() as asked:
        for recipe in chosen:
            try:
                models = build_seeds(partial(_build, recipe, data), seeds)
            except ModelError as error:
                untried[recipe.name] = str(error)
                continue
            configs = [replace(recipe.config, seed=seed) for seed in seeds]
            with Progress(len(models), recipe.config.epochs, recipe.name) as bar:
                runs = fit_many(models, data, configs, splits=splits, progress=bar, device=device)
            if asked():
                break
            effects.append(_compare(recipe.name, runs, effects))
    return tuple(effects), untried


def _build(recipe: Recipe, data: Any) -> torch.nn.Module:
    return trainable(recipe.build(), data)


def _compare(name: str, runs: list[Run], before: list[Effect]) -> Effect:
    first = before[0].runs if before else runs
    pairs = zip(runs, first, strict=True)
    return Effect(name, tuple(runs), tuple(a.test_score - b.test_score for a, b in pairs))
