"""Trials of the paper's protocol: settings drawn at random from its grid, each trained once.

What the paper leaves open, such as the first weights, is drawn from our search space. Each batch
of trials is written as soon as it is finished, so the same call resumes after an interruption.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graphsct.errors import DivergedError
from graphsct.paper.cell import Key
from graphsct.paper.paper import find_table
from graphsct.paper.replay import TRIALS, Replay, ReplayTrial
from graphsct.paper.reproduce import Loader, command
from graphsct.paper.workplace import CellOutcome, each_cell, fit_all
from graphsct.search.space import configs, space
from graphsct.search.task import Task
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds

__all__ = ["draw", "replay_cells"]

#: Trials that are trained together.
_AT_ONCE = 20
_EPOCHS, _PATIENCE = 1500, 100


def replay_cells(
    keys: Iterable[Key], *, load: Loader, out: Path, work: Path, trials: int = TRIALS
) -> Iterator[CellOutcome[Replay]]:
    """Draw and train the missing trials of cells, one cell after another.

    Args:
        keys: keys of the cells
        load: function that loads data by name, with normalized rows or without
        out: folder of cells; the files go into its folder ``replays``
        work: folder for locks
        trials: number of trials of each cell
    """

    def make(key: Key, place: Path) -> Replay:
        path = Replay.path(out, key)
        replay = Replay.read(path) if path.is_file() else Replay(key)
        while replay.drawn < trials:
            numbers = range(replay.drawn, min(trials, replay.drawn + _AT_ONCE))
            found = [trial for trial in _train(key, numbers, load) if trial is not None]
            replay = replace(
                replay,
                trials=(*replay.trials, *found),
                diverged=replay.diverged + len(numbers) - len(found),
                command=command(
                    "reproduce replay", data=key.dataset, model=key.model, depth=key.depth
                ),
            )
            replay.write(out)
        return replay

    return each_cell(keys, out, work / Replay.subfolder, make)


def draw(key: Key, number: int) -> dict[str, Any]:
    """The settings of a trial, drawn from the paper's grid, or from our choices where it has none.

    Example:
        >>> draw(Key("cora", "gcn", None, 2), 0)["learning_rate"] in (1e-4, 1e-3, 1e-2)
        True
    """
    choices = dict(space(Task(*key, select="val_loss")))
    for name, values in _paper_grid(key.model).items():
        if name in choices:
            choices[name] = tuple(value for value in choices[name] if value in values)
    chance = random.Random(f"{key.name} {number}")
    return {name: chance.choice(these) for name, these in choices.items()}


def _paper_grid(model: str) -> dict[str, tuple[float, ...]]:
    """The values that the paper's search tries, by the names of our settings."""
    own = [cell for cell in find_table("grid").cells if cell.model in (None, model)]
    renamed = {"alpha": "c_min"} if model == "egnn" else {}
    return {renamed.get(str(cell.quantity), str(cell.quantity)): cell.values for cell in own}


def _train(key: Key, numbers: Sequence[int], load: Loader) -> list[ReplayTrial | None]:
    """The results of some trials; those that diverge have none."""
    task, found = Task(*key, select="val_loss"), dict[int, ReplayTrial | None]()
    drawn = {number: draw(key, number) for number in numbers}
    for normalize in (False, True):
        own = {number: made for number, made in drawn.items() if made["normalize"] is normalize}
        settings = [_configs(task, made, number) for number, made in own.items()]
        found |= zip(own, _fit(settings, load(key.dataset, normalize)), strict=True)
    return [found[number] for number in numbers]


def _configs(task: Task, made: dict[str, Any], number: int) -> tuple[ModelConfig, TrainConfig]:
    """The settings of a trial, whose patience counts from the first epoch as in the paper."""
    model, train = configs(task, made, epochs=_EPOCHS, patience=_PATIENCE, seed=number)
    return model, replace(train, least_epochs=TrainConfig.least_epochs)


def _fit(settings: list[tuple[ModelConfig, TrainConfig]], data: Any) -> list[ReplayTrial | None]:
    """Train once with each, all together, or one by one if one of them diverges."""
    if not settings:
        return []
    models = [
        build_seeds(partial(model.build, data), [config.seed])[0] for model, config in settings
    ]
    try:
        runs = fit_all(models, data, [config for _, config in settings])
    except DivergedError:
        if len(settings) == 1:
            return [None]
        return [trial for one in settings for trial in _fit([one], data)]
    return [
        ReplayTrial(str(model.activation), run.val_loss, run.val_score, run.test_score)
        for (model, _), run in zip(settings, runs, strict=True)
    ]
