"""Runs cells on this machine: finds or looks up settings, trains all seeds, writes a file per cell.

A cell is written when it is done. Until then its search and its runs are kept in a work folder, so
that after a kill the same command loses no more than the epochs since the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from graphsct.errors import ExperimentError
from graphsct.files import sweep
from graphsct.paper.author_settings import published_settings
from graphsct.paper.cell import EARLIER, Cell, CellSettings, Key, Result
from graphsct.paper.keys import borrow
from graphsct.paper.origin import Allowed, Origin
from graphsct.paper.workplace import CellOutcome, clear_runs, each_cell, runs_folder, train_runs
from graphsct.search.space import VERSION
from graphsct.search.task import Task
from graphsct.training.config import ModelConfig
from graphsct.training.folder import seed_folder
from graphsct.training.run import versions
from graphsct.training.seeds import build_seeds, split_of

__all__ = ["Budget", "Effort", "Loader", "command", "is_done", "run_cells"]

Loader = Callable[[str, bool], Any]


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The effort of a search for settings.

    Args:
        trials: number of trials, ``None`` for known settings
        seconds: time after which no further trial starts
        max_hidden: maximum number of channels to try; defaults to all widths of the search space
        workers: processes that share the trials of a cell
        ray: Ray cluster that starts them: its address, ``auto`` or ``local``
        finalists: number of the best trials that get five times as many runs before the selection
    """

    trials: int | None = None
    seconds: float | None = None
    max_hidden: int | None = None
    workers: int = 1
    ray: str | None = None
    finalists: int = 0


@dataclass(frozen=True, kw_only=True)
class Budget(Effort):
    """The budget of a cell: the effort of its search, and its runs.

    Args:
        seeds: number of runs for each rule; on data with ten splits, seed i uses split i modulo 10
    """

    seeds: int = 10

    def __post_init__(self) -> None:
        unused = {"ray": None, "workers": 1, "finalists": 0}
        for what in unused if self.trials is None else ():
            value = getattr(self, what)
            if value != unused[what]:
                raise ExperimentError(
                    f"{what} is {value!r}, but known settings need no search; set the number of "
                    "trials to search again, or leave it out"
                )

    @property
    def allowed(self) -> Allowed | None:
        """The budget of the search, as it is stored with a cell; ``None`` without a search."""
        if self.trials is None:
            return None
        names = ("seconds", "max_hidden", "finalists")
        own = {name: getattr(self, name) for name in names}
        return Allowed(trials=self.trials, space=VERSION, **own)


def is_done(cell: Cell | None, budget: Budget) -> bool:
    """Whether a cell has all runs, and settings from a search with at least this budget."""
    if cell is None or not _searched(cell, budget):
        return False
    seeds = set(range(budget.seeds))
    return all(seeds <= {run.seed for run in cell.runs(rule)} for rule in cell.settings.rules)


def _searched(cell: Cell, budget: Budget) -> bool:
    wanted, before = budget.allowed, cell.allowed
    return wanted is None or (before is not None and before.covers(wanted))


def run_cells(
    keys: Sequence[Key],
    budget: Budget,
    *,
    load: Loader,
    known: dict[Key, Cell],
    out: Path,
    work: Path,
    table: str,
    same_start: bool = False,
) -> Iterator[CellOutcome[Cell]]:
    """Run cells one by one; one that fails does not stop the others.

    Ctrl-C raises :class:`KeyboardInterrupt` after the current runs have been saved.

    Args:
        keys: keys of the cells
        budget: budget of each cell
        load: function that loads data by name, with normalized rows or without
        known: cells with settings for keys that have no cell in ``out``; a cell with a fixed
            activation may borrow the settings of the cell whose activation was searched
        out: folder for the cells; finished ones in it are not run again
        work: folder for searches and runs in progress
        table: name of the table, for the command that is stored with each cell
        same_start: start models with control from the first weights of their base
    """

    def make(key: Key, place: Path) -> Cell:
        sweep(out, [Cell.path(out, key).name])
        there = Cell.read_all(out, [key]).get(key)
        if there is not None and is_done(there, budget):
            return there
        done = Cell.read_all(out)
        before = there or known.get(key)
        start = there or _known(key, budget, known, done)
        near = _other_depths(key, done)
        cell = _run(key, start, budget, load, place, near, same_start)
        cell = replace(cell, command=_command(table, key, budget))
        if before is not None and before.results and cell.allowed != before.allowed:
            _keep(before, out / EARLIER)
        cell.write(out)
        clear_runs(place)
        return cell

    return each_cell(keys, out, work, make)


def _known(key: Key, budget: Budget, known: dict[Key, Cell], done: dict[Key, Cell]) -> Cell | None:
    """The cell to start from: borrowed from our own cells, or a known one without its results."""
    theirs = known.get(key)
    if budget.trials is None and (theirs is None or theirs.borrowed):
        own = borrow(key, done)
        if own is not None:
            return own
        theirs = theirs or borrow(key, known)
    return None if theirs is None else replace(theirs, results=())


def _keep(cell: Cell, folder: Path) -> None:
    """Keep the results from before a cell was searched again; only the first such results."""
    if not Cell.path(folder, cell.key).exists():
        cell.write(folder)


def _other_depths(key: Key, cells: dict[Key, Cell]) -> list[Cell]:
    """Cells that differ only in depth, the nearest first; their settings often suit this one."""
    depth = key.depth
    if depth is None:
        return []
    others = [
        cell
        for other, cell in cells.items()
        if other.depth != depth and other._replace(depth=depth) == key
    ]
    return sorted(others, key=lambda cell: abs((cell.settings.model.depth or 0) - depth))


def _run(
    key: Key,
    cell: Cell | None,
    budget: Budget,
    load: Loader,
    work: Path,
    near: Sequence[Cell],
    same_start: bool,
) -> Cell:
    if cell is None or not _searched(cell, budget):
        settings, found = _search(key, load, budget, work, near)
        if cell is not None and cell.settings == settings:
            cell = replace(cell, found=found)
        else:
            cell = Cell(key, settings, found)
    data = load(key.dataset, cell.settings.normalize)
    results = {(run.select, run.seed): run for run in cell.results}
    wanted = [(rule, seed) for rule in cell.settings.rules for seed in range(budget.seeds)]
    missing = [each for each in wanted if each not in results]
    if missing:
        build = partial(
            _on_its_base if same_start else ModelConfig.build, cell.settings.model, data
        )
        made = _train(cell, data, build, missing, runs_folder(work, cell.settings))
        results |= {(run.select, run.seed): run for run in made}
    first = cell.settings.rules[0]
    in_order = sorted(results.values(), key=lambda run: (run.select != first, run.seed))
    return replace(cell, results=tuple(in_order), versions=versions())


def _on_its_base(config: ModelConfig, data: Any) -> torch.nn.Module:
    """A model whose weights outside its control are those of its base with the same seed."""
    base = replace(config, control=None).build(data)
    model = config.build(data)
    model.load_state_dict(base.state_dict(), strict=False)
    return model


def _train(
    cell: Cell,
    data: Any,
    build: Callable[[], torch.nn.Module],
    missing: Sequence[tuple[str, int]],
    folder: Path,
) -> list[Result]:
    """The results of some rules and seeds; a seed is trained once for all rules."""
    settings = cell.settings
    splits = [split_of(data, seed) for _, seed in missing]
    runs = train_runs(
        cell.key,
        build_seeds(build, [seed for _, seed in missing]),
        data,
        [replace(settings.train, select=rule, seed=seed) for rule, seed in missing],
        splits,
        [seed_folder(folder / rule, seed) for rule, seed in missing],
    )
    return [Result.of(run, split) for run, split in zip(runs, splits, strict=True)]


def _search(
    key: Key, load: Loader, budget: Budget, work: Path, near: Sequence[Cell]
) -> tuple[CellSettings, Origin]:
    from graphsct.search import search

    allowed = budget.allowed
    if allowed is None:
        raise ExperimentError(
            "no settings are known for this cell; set a number of trials to search"
        )
    task = Task(*key, max_hidden=budget.max_hidden)
    published, others = published_settings(key), (cell.settings for cell in near)
    found = search(
        task,
        trials=allowed.trials,
        seconds=budget.seconds,
        workers=budget.workers,
        ray=budget.ray,
        finalists=budget.finalists,
        data=load(task.data, False),
        storage=work / "study",
        first=[(s.model, s.train, s.normalize) for s in (*published, *others)],
    )
    if found.interrupted:
        raise KeyboardInterrupt
    origin = Origin(
        trials=found.trials,
        pruned=found.pruned,
        failed=found.failed,
        allowed=allowed,
        seed=found.seed,
        runs=found.seeds_per_trial,
        finalists=found.finalists,
        select=task.select,
        score=found.score,
        seconds=found.seconds,
        after=tuple(cell.key.name for cell in near),
        command=_search_command(task, budget),
    )
    return CellSettings(found.model, found.train, found.normalize), origin


def _search_command(task: Task, budget: Budget) -> str:
    return command(
        "search",
        data=task.data,
        model=task.model,
        control=task.control or "none",
        depth=task.depth,
        activation=task.activation,
        max_hidden=task.max_hidden,
        trials=budget.trials,
        **_shared(budget),
    )


def _command(table: str, key: Key, budget: Budget) -> str:
    return command(
        f"reproduce {table}",
        data=key.dataset,
        model=key.model,
        depth=key.depth,
        control="sct" if key.control else "none",
        seeds=budget.seeds,
        trials=budget.trials,
        seconds=budget.seconds,
        max_hidden=budget.max_hidden,
        **_shared(budget),
    )


def _shared(budget: Budget) -> dict[str, int | None]:
    """The options that influence the selection: the number of workers and of finalists."""
    workers = budget.workers if budget.workers > 1 else None
    return {"workers": workers, "finalists": budget.finalists or None}


def command(name: str, **options: str | float | None) -> str:
    """A command with the options that are given.

    Example:
        >>> command("search", data="cora", depth=None, max_hidden=16)
        'graphsct search --data cora --max-hidden 16'
    """
    parts = [
        f"--{option.replace('_', '-')} {f'{value:g}' if isinstance(value, float) else value}"
        for option, value in options.items()
        if value is not None
    ]
    return " ".join(["graphsct", name, *parts])
