"""Remedies that can be applied without changing the user's code, and their effects."""

from __future__ import annotations

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
from graphsct.nn import MODELS
from graphsct.nn.model_file import is_model
from graphsct.nn.model_function import depth_argument
from graphsct.remedies import REMEDIES
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
        ['as it is', 'identity', 'shallower', 'gcnii', 'sct_pooled', 'batch_norm']
    """
    chosen = list(recipes(found, model, data, config or TrainConfig()))
    there = data if device is None else Mover(find_device(device))(data)
    effects, untried = _train(chosen, there, seeds, device)
    for advice in found.advice:
        if advice.name not in {recipe.name for recipe in chosen}:
            untried[advice.name] = "it can only be applied by hand"
    return replace(found, effects=effects, untried=untried)


def recipes(
    found: Diagnosis, model: ModelConfig | Build, data: Any, config: TrainConfig
) -> Iterator[Recipe]:
    """The model as it is, then one recipe for each advice that can be applied to it."""
    if isinstance(model, ModelConfig) and not is_model(MODELS[model.model]):
        model = _builder(model, data)
    make = model if not isinstance(model, ModelConfig) else partial(model.build, data)
    yield Recipe(AS_IS, make, config)
    for advice in found.advice:
        if advice.name == "longer":
            longer = replace(config, epochs=4 * config.epochs, patience=4 * config.patience)
            yield Recipe(advice.name, make, longer)
        elif isinstance(model, ModelConfig):
            value = _depth(found) if advice.name == "shallower" else None
            own, settings = REMEDIES[advice.name].configure(model, config, value)
            yield Recipe(advice.name, partial(own.build, data), settings)
        elif advice.name != "shallower":
            yield Recipe(advice.name, partial(_applied, advice.name, model, data), config)
        elif (argument := depth_argument(model)) is not None:
            yield Recipe(advice.name, partial(model, **{argument: _depth(found)}), config)


def _depth(found: Diagnosis) -> int:
    return sound_depth(found.findings, len(found.layers))


def _applied(name: str, build: Build, data: Any) -> torch.nn.Module:
    """A new model with a remedy of the catalogue."""
    return REMEDIES[name].apply(build(), data)


def _builder(model: ModelConfig, data: Any) -> Build:
    """A function that builds a model that is not ours, of any depth if it takes one."""

    def build(depth: int | None = model.depth) -> torch.nn.Module:
        return replace(model, depth=depth).build(data)

    return partial(model.build, data) if model.depth is None else build


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
