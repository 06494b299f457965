"""The harness of the leaderboard: every remedy with one and the same budget."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from filelock import FileLock, Timeout

from graphsct.errors import DivergedError, ExperimentError, ModelError
from graphsct.files import sweep
from graphsct.nn.blueprint import get_model
from graphsct.nn.model_file import is_model
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell, BoardKey, BoardLayer, TriedSetting
from graphsct.remedies.budget import EPOCHS, BudgetSetting, base_model, budget_of
from graphsct.remedies.remedy import Remedy
from graphsct.training.config import SELECTIONS, TrainConfig
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.metrics import METRICS
from graphsct.training.progress import Progress
from graphsct.training.run import Run, versions
from graphsct.training.scored_run import ScoredRun
from graphsct.training.seeds import build_seeds, split_of
from graphsct.training.timing import alternate, epoch_of

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["Inspect", "compare_remedies", "cost_of", "epoch_seconds", "fits"]

_LOG = logging.getLogger(__name__)

#: Limits for measuring the cost of a remedy: seconds, and epochs with it and without it.
_COST_SECONDS, _COST_EPOCHS = 2.0, 20

#: ``inspect(model, data)`` returns a diagnosis of a trained model, as :func:`graphsct.diagnose`.
Inspect = Callable[[torch.nn.Module, Any], "Diagnosis"]


def fits(remedy: Remedy, model: str) -> bool:
    """Whether a remedy fits a model of the leaderboard, and changes it unless it is ``none``.

    Args:
        remedy: the remedy
        model: name of the model

    Example:
        >>> from graphsct.remedies import REMEDIES
        >>> [fits(REMEDIES[name], "gcn") for name in ("none", "identity", "glorot")]
        [True, True, False]
    """
    if not is_model(get_model(model)):
        return remedy.applies
    base = base_model(model, depth=8), BudgetSetting(0.01, 0.5, 5e-4).train()
    changes = model in remedy.models and remedy.configure(*base) != base
    return changes or remedy.name == "none"


def compare_remedies(
    data: Any,
    remedies: Sequence[Remedy],
    depths: Sequence[int],
    *,
    folder: Path,
    name: str,
    model: str = "gcn",
    seeds: int = 10,
    epochs: int = EPOCHS,
    inspect: Inspect | None = None,
    say: Callable[[str], object] = _LOG.info,
) -> list[BoardCell]:
    """Run cells of the leaderboard, by the rules of :mod:`graphsct.remedies.budget`.

    Each cell is written when it is finished. Finished cells are read instead of run; Ctrl-C keeps
    them. Several processes may share a folder: each cell is run by one of them. A remedy that does
    not fit at some depth is left out there.

    Args:
        data: as for :func:`~graphsct.fit`
        remedies: the remedies
        depths: numbers of layers
        folder: folder of the cells
        name: name of the data in files and commands
        model: name of the model that gets the remedies
        seeds: number of seeds; on data with several splits, seed ``i`` uses split ``i`` modulo
            their number
        epochs: the most epochs of a run
        inspect: diagnoses the model of the first seed, such as :func:`graphsct.diagnose`; without
            it no layer is measured
        say: called with a line about each cell; logs the line by default

    Raises:
        KeyboardInterrupt: after Ctrl-C
    """
    unfit = [remedy.name for remedy in remedies if not fits(remedy, model)]
    if unfit:
        raise ExperimentError(
            f"{', '.join(unfit)} cannot be applied to {model}, or would change nothing there; "
            "leave it out"
        )
    wanted = {
        BoardKey(name, model, depth, remedy.name): remedy for depth in depths for remedy in remedies
    }
    found: dict[BoardKey, BoardCell | None] = {}
    for wait in (False, True):  # first the cells that no other process is running
        for key, remedy in wanted.items():
            if key in found:
                continue
            try:
                with _alone(folder, key, wait):
                    training = _Training(data, remedy, key, seeds, epochs, inspect)
                    found[key] = _read(folder, key, seeds, epochs) or _run(training, folder, say)
            except Timeout:
                continue
    return [cell for cell in map(found.get, wanted) if cell is not None]


@contextmanager
def _alone(folder: Path, key: BoardKey, wait: bool) -> Iterator[None]:
    """Lock a cell against other processes, and delete temporary files of killed ones."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{key.name}.lock", timeout=-1 if wait else 0):
        sweep(folder, [f"{key.name}.json"])
        yield


def _run(training: _Training, folder: Path, say: Callable[[str], object]) -> BoardCell | None:
    """Run a cell and write it, or return ``None`` if its remedy does not fit at its depth."""
    key = training.key
    try:
        cell = training.cell()
    except ModelError as error:
        if key.remedy == "none":
            raise
        say(f"{key.remedy}, {key.depth} layers: left out, {error}")
        return None
    say(f"{_outcome(cell)} -> {cell.write(folder)}")
    return cell


def _read(folder: Path, key: BoardKey, seeds: int, epochs: int) -> BoardCell | None:
    """The finished cell in a folder, if there is one; an error if it has other limits."""
    path = folder / f"{key.name}.json"
    if not path.exists():
        return None
    cell = BoardCell.read(path)
    if (cell.seeds, cell.epochs) != (seeds, epochs):
        raise ExperimentError(
            f"{path} has {cell.seeds} seeds of at most {cell.epochs} epochs, not {seeds} of "
            f"{epochs}; use another folder, or delete it"
        )
    return cell


def _outcome(cell: BoardCell) -> str:
    if cell.failure is not None:
        return f"{cell.key.remedy}, {cell.key.depth} layers: {cell.failure}"
    return f"{cell.key.remedy}, {cell.key.depth} layers: {cell.show()}"


class _Training:
    """A cell that is being run."""

    def __init__(
        self,
        data: Any,
        remedy: Remedy,
        key: BoardKey,
        seeds: int,
        epochs: int,
        inspect: Inspect | None,
    ) -> None:
        self.data, self.remedy, self.key = data, remedy, key
        self.seeds, self.epochs, self.inspect = seeds, epochs, inspect

    def cell(self) -> BoardCell:
        """Choose a setting, and train it with all seeds."""
        settings = budget_of(self.remedy)
        tried = self._try(settings)
        done = [run for run in tried if run is not None]
        cell = BoardCell(
            self.key,
            self.seeds,
            self.epochs,
            done[0].metric if done else "accuracy",
            tuple(map(TriedSetting.of, settings, tried)),
            command=self._command(),
            versions=versions(),
        )
        if not done:
            return replace(cell, failure="the weights diverged with every setting")
        chosen = settings[tried.index(max(done, key=_rank))]
        jobs = [(chosen, seed, select) for seed in range(self.seeds) for select in SELECTIONS]
        try:
            runs, models = self._fit(jobs)
        except DivergedError as error:
            return replace(cell, chosen=chosen, failure=str(error))
        first = models[jobs.index((chosen, 0, "val_score"))]
        reports = () if self.inspect is None else self.inspect(first, self.data).layers
        return replace(
            cell,
            chosen=chosen,
            runs=tuple(ScoredRun.of(run, split_of(self.data, run.config.seed)) for run in runs),
            backend=runs[0].backend,
            layers=tuple(map(BoardLayer.of, reports)),
            cost=cost_of(self.data, self.remedy, self.key, chosen),
        )

    def _try(self, settings: Sequence[BudgetSetting]) -> list[Run | None]:
        """Train each setting once, all together, or one by one if one of them diverges."""
        try:
            return list(self._fit([(setting, 0, "val_score") for setting in settings])[0])
        except DivergedError:
            if len(settings) == 1:
                return [None]
            return [run for setting in settings for run in self._try([setting])]

    def _fit(
        self, jobs: Sequence[tuple[BudgetSetting, int, str]]
    ) -> tuple[list[Run], list[torch.nn.Module]]:
        """Train models, one for each setting, seed and rule that selects the epoch."""
        models: list[torch.nn.Module] = []
        configs = []
        for setting, seed, select in jobs:
            build, train = _recipe(self.data, self.remedy, self.key, setting, self.epochs)
            models += build_seeds(build, [seed])
            configs.append(replace(train, seed=seed, select=select))
        splits = [split_of(self.data, seed) for _, seed, _ in jobs]
        bar = Progress(len(jobs), self.epochs, self.key.name)
        with interruptible() as asked, bar:
            runs = fit_many(models, self.data, configs, splits=splits, progress=bar)
            if asked():
                raise KeyboardInterrupt
        return runs, models

    def _command(self) -> str:
        options = {**self.key._asdict(), "seeds": self.seeds}
        if self.epochs != EPOCHS:
            options["epochs"] = self.epochs
        shown = (f"--{name} {shlex.quote(str(value))}" for name, value in options.items())
        return f"graphsct remedies compare {' '.join(shown)}"


def cost_of(data: Any, remedy: Remedy, key: BoardKey, setting: BudgetSetting) -> float | None:
    """The processor time of an epoch with a remedy over that without, measured in turns.

    Unlike its duration, it does not depend on what else the machine is doing.

    Args:
        data: as for :func:`~graphsct.fit`
        remedy: the remedy; the cost of ``none`` is ``None``
        key: its cell
        setting: the setting of both models
    """
    if remedy.name == "none":
        return None
    plain = REMEDIES["none"], replace(setting, value=None)
    epochs = [_epoch(data, each, key, own) for each, own in ((remedy, setting), plain)]
    cost, least = alternate(epochs, _COST_SECONDS, _COST_EPOCHS, time.process_time)
    return cost / least


def epoch_seconds(data: Any, key: BoardKey, setting: BudgetSetting) -> float:
    """The processor time of an epoch of a cell, in seconds; the arguments are those of
    :func:`cost_of`.
    """
    epoch = _epoch(data, REMEDIES[key.remedy], key, setting)
    return alternate([epoch], _COST_SECONDS, _COST_EPOCHS, time.process_time)[0]


def _epoch(data: Any, remedy: Remedy, key: BoardKey, setting: BudgetSetting) -> Callable[[], Any]:
    build, train = _recipe(data, remedy, key, setting)
    (model,) = build_seeds(build, [0])
    return epoch_of(model, data, train, split_of(data, 0))


def _recipe(
    data: Any, remedy: Remedy, key: BoardKey, setting: BudgetSetting, epochs: int = EPOCHS
) -> tuple[Callable[[], torch.nn.Module], TrainConfig]:
    """How a model with a remedy is built and trained."""
    base, train = base_model(key.model, key.depth, setting.dropout), setting.train(epochs)
    if is_model(get_model(key.model)):
        model, train = remedy.configure(base, train, setting.value)
        return partial(model.build, data), train
    return lambda: remedy.apply(base.build(data), data, setting.value), train


def _rank(run: Run) -> tuple[float, float]:
    """By the validation metric, then by the validation loss; larger is better."""
    score = run.val_score if METRICS[run.metric].larger else -run.val_score
    return score, -run.val_loss
