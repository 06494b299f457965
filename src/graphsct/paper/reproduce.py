"""Cells run on this machine: settings searched or known, then all seeds, each cell a file.

A cell is written when it is done. Until then its search and its runs are kept in a work folder, so
that after a kill the same command loses no more than the epochs since the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from graphsct.errors import ExperimentError, GraphsctError
from graphsct.paper.cell import RESULT, Cell, CellSettings, Key, read_cells, write_cell
from graphsct.paper.keys import borrow
from graphsct.paper.workplace import alone, clear_runs, runs_folder
from graphsct.search.task import Task
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.progress import Progress
from graphsct.training.run import Run, versions
from graphsct.training.seeds import build_seeds, seed_folder, split_of

__all__ = ["Budget", "CellOutcome", "Loader", "is_done", "run_cells"]

Loader = Callable[[str, bool], Any]


@dataclass(frozen=True)
class Budget:
    """The budget of a cell.

    Args:
        seeds: number of runs for each rule; on data with ten splits, seed i uses split i modulo 10
        trials: number of trials of a search, ``None`` for known settings
        seconds: time after which no further trial starts
        max_hidden: maximum number of channels to try; defaults to that of the paper's grid
        workers: processes that share the trials of a cell
        ray: Ray cluster that starts them: its address, ``auto`` or ``local``
        finalists: number of the best trials that get five times as many runs before the selection
    """

    seeds: int = 10
    trials: int | None = None
    seconds: float | None = None
    max_hidden: int | None = None
    workers: int = 1
    ray: str | None = None
    finalists: int = 0

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
    def allowed(self) -> dict[str, Any]:
        """The budget of a search, as it is stored with a cell."""
        names = ("trials", "seconds", "max_hidden", "finalists")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell: the cell itself, or the reason of its failure."""

    key: Key
    cell: Cell | None = None
    reason: str = ""
    new: bool = True


def is_done(cell: Cell | None, budget: Budget) -> bool:
    """Whether a cell has all runs, and settings from a search with at least this budget."""
    if cell is None or not _searched(cell, budget):
        return False
    seeds = set(range(budget.seeds))
    return all(seeds <= {run["seed"] for run in cell.runs(rule)} for rule in cell.settings.rules)


def _searched(cell: Cell, budget: Budget) -> bool:
    if budget.trials is None:
        return True
    before = {"trials": 0, "finalists": 0, **(cell.allowed or {})}
    if before["trials"] < budget.trials or before["finalists"] < budget.finalists:
        return False
    return not any(
        before.get(name) is not None and (more is None or more > before[name])
        for name, more in (("seconds", budget.seconds), ("max_hidden", budget.max_hidden))
    )


def run_cells(
    keys: Sequence[Key],
    budget: Budget,
    *,
    load: Loader,
    known: dict[Key, Cell],
    out: Path,
    work: Path,
    table: str,
    progress: bool = True,
) -> Iterator[CellOutcome]:
    """Run cells one by one; one that fails does not stop the others.

    Ctrl-C raises :class:`KeyboardInterrupt` after the current runs have been saved.

    Args:
        keys: keys of the cells
        budget: budget of each cell
        load: function that loads data by name, with normalized rows or without
        known: cells with settings for those that are not in ``out``; a cell with a fixed activation
            may borrow them from the cell in which it was searched
        out: folder for the cells; finished ones in it are not run again
        work: folder for searches and runs in progress
        table: name of the table, for the command that is stored with each cell
        progress: show the progress, if standard error is a terminal
    """
    with interruptible() as asked:
        for key in keys:
            place = work / key.name
            try:
                with alone(place):
                    there = read_cells(out, [key]).get(key)
                    new = not is_done(there, budget)
                    cell = there
                    if new:
                        done = read_cells(out)
                        start = there or _known(key, budget, known, done)
                        near = _other_depths(key, done)
                        cell = _run(key, start, budget, load, place, progress, near)
                        cell = replace(cell, command=_command(table, key, budget))
                        write_cell(out, cell)
                        clear_runs(place)
                outcome = CellOutcome(key, cell, new=new)
            except (GraphsctError, OSError) as error:
                outcome = CellOutcome(key, reason=str(error))
            if asked():
                raise KeyboardInterrupt
            yield outcome


def _known(key: Key, budget: Budget, known: dict[Key, Cell], done: dict[Key, Cell]) -> Cell | None:
    """The cell to start from: a known one without its results, or one of our own with them."""
    theirs = known.get(key)
    if theirs is None and budget.trials is None:
        own = borrow(key, done)
        if own is not None:
            return own
        theirs = borrow(key, known)
    return None if theirs is None else replace(theirs, results=())


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
    progress: bool,
    near: Sequence[Cell],
) -> Cell:
    if cell is None or not _searched(cell, budget):
        settings, found = _search(key, load, budget, work, progress, near)
        if cell is not None and cell.settings == settings:
            cell = replace(cell, found=found)
        else:
            cell = Cell(key, settings, found)
    data = load(key.dataset, cell.settings.normalize)
    results = {(run["select"], run["seed"]): run for run in cell.results}
    wanted = [(rule, seed) for rule in cell.settings.rules for seed in range(budget.seeds)]
    missing = [each for each in wanted if each not in results]
    if missing:
        made = _train(cell, data, missing, runs_folder(work, cell.settings), progress)
        results |= {(row["select"], row["seed"]): row for row in made}
    in_order = tuple(results[each] for each in sorted(results))
    return replace(cell, results=in_order, versions=versions())


def _train(
    cell: Cell, data: Any, missing: Sequence[tuple[str, int]], folder: Path, progress: bool
) -> list[dict[str, Any]]:
    """The results of some rules and seeds; a seed is trained once, whatever rules look at it."""
    settings = cell.settings
    models = build_seeds(partial(settings.model.build, data), [seed for _, seed in missing])
    with ExitStack() as stack:
        bar = None
        if progress:
            title = f"{cell.key.name}, run"
            bar = stack.enter_context(Progress(len(missing), settings.train.epochs, title))
        runs = fit_many(
            models,
            data,
            [replace(settings.train, select=rule, seed=seed) for rule, seed in missing],
            splits=[split_of(data, seed) for _, seed in missing],
            folders=[seed_folder(folder / rule, seed) for rule, seed in missing],
            progress=bar,
        )
    if len(runs) < len(missing) or any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    return [_row(run, split_of(data, run.config.seed)) for run in runs]


def _row(run: Run, split: int | None) -> dict[str, Any]:
    config = {"select": run.config.select, "seed": run.config.seed, "split": split}
    row = config | run.to_dict()
    return {name: row[name] for name in RESULT}


def _search(
    key: Key, load: Loader, budget: Budget, work: Path, progress: bool, near: Sequence[Cell]
) -> tuple[CellSettings, dict[str, Any]]:
    from graphsct.search import search

    if budget.trials is None:
        raise ExperimentError(
            "no settings are known for this cell; set a number of trials to search"
        )
    task = Task(*key, max_hidden=budget.max_hidden)
    found = search(
        task,
        trials=budget.trials,
        seconds=budget.seconds,
        workers=budget.workers,
        ray=budget.ray,
        finalists=budget.finalists,
        data=load(task.data, False),
        storage=work / "study",
        progress=progress,
        first=[(s.model, s.train, s.normalize) for s in (cell.settings for cell in near)],
    )
    if found.interrupted:
        raise KeyboardInterrupt
    how = {
        "trials": found.trials,
        "pruned": found.pruned,
        "failed": found.failed,
        "allowed": budget.allowed,
        "seed": found.seed,
        "runs": found.seeds_per_trial,
        "finalists": found.finalists,
        "select": task.select,
        "score": found.score,
        "seconds": found.seconds,
        "after": [cell.key.name for cell in near],
        "command": _search_command(task, budget),
    }
    return CellSettings(found.model, found.train, found.normalize), how


def _search_command(task: Task, budget: Budget) -> str:
    parts = ["graphsct search --data", task.data, "--model", task.model]
    parts += ["--control", task.control or "none"]
    for name in ("depth", "activation", "max_hidden"):
        if getattr(task, name) is not None:
            parts += [f"--{name.replace('_', '-')}", str(getattr(task, name))]
    parts += ["--trials", str(budget.trials)]
    return " ".join([*parts, *_shared(budget)])


def _command(table: str, key: Key, budget: Budget) -> str:
    parts = ["graphsct", "reproduce", table, "--dataset", key.dataset, "--model", key.model]
    if key.depth is not None:
        parts += ["--depth", str(key.depth)]
    parts += ["--control", "sct" if key.control else "none", "--seeds", str(budget.seeds)]
    if budget.trials is not None:
        parts += ["--trials", str(budget.trials)]
    if budget.seconds is not None:
        parts += ["--seconds", f"{budget.seconds:g}"]
    if budget.max_hidden is not None:
        parts += ["--max-hidden", str(budget.max_hidden)]
    return " ".join([*parts, *_shared(budget)])


def _shared(budget: Budget) -> list[str]:
    """The options that influence the selection: the number of workers and of finalists."""
    parts = ["--workers", str(budget.workers)] if budget.workers > 1 else []
    return parts + (["--finalists", str(budget.finalists)] if budget.finalists else [])
