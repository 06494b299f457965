"""Experiments: they build a table from stored results, and produce these results."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from graphsct import datasets
from graphsct.datasets.load import is_here
from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Cell, Key
from graphsct.paper.estimate import estimate
from graphsct.paper.keys import Choice
from graphsct.paper.paper import PaperTable, find_table
from graphsct.paper.reproduce import Budget, Effort, Loader, is_done, run_cells
from graphsct.paper.workplace import CellOutcome
from graphsct.training.metrics import METRICS

__all__ = ["Experiment", "PaperExperiment", "Request", "Root", "TrainedExperiment", "run_all"]

Root = str | os.PathLike[str] | None


@dataclass(frozen=True, kw_only=True)
class Request(Effort):
    """A request to run cells, with the effort of searches; ``seconds`` may also limit a timing.

    Args:
        choice: the cells to run
        out: folder of the results
        work: folder of searches and runs in progress
        root: folder with the raw files of data sets
        say: called with a line about each result
        seeds: number of runs of each cell, ``None`` for the experiment's default
    """

    choice: Choice
    out: Path
    work: Path
    root: Path | None
    say: Callable[[str], None]
    seeds: int | None = None

    @cached_property
    def load(self) -> Loader:
        """The function that loads a data set; it keeps the last one."""

        @lru_cache(maxsize=1)
        def load(name: str, normalize: bool) -> Any:
            return datasets.load(name, self.root, normalize=normalize)

        return load


class Experiment(ABC):
    """A table with a name: how it is built, and how its results are made.

    Args:
        name: its plain name
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def build(self, cells: Path, root: Root) -> Table[Any]:
        """Build the table.

        Args:
            cells: folder of our results
            root: folder with the raw files of data sets
        """

    def run(self, request: Request) -> bool:
        """Make the missing results, and return whether all succeeded.

        A table of counts has nothing to run.
        """
        return True

    @abstractmethod
    def nothing_left(self, choice: Choice, cells: Path) -> ExperimentError:
        """Return the error for a choice that leaves no row of the table."""


class PaperExperiment(Experiment):
    """A table that the paper has."""

    @property
    def printed(self) -> PaperTable:
        """The paper's numbers."""
        return find_table(self.name)

    def table(
        self,
        columns: Iterable[Column[Any]],
        rows: Iterable[Any],
        notes: Iterable[str] = (),
        parts: Iterable[Table[Any]] = (),
        sections: tuple[str, ...] = ("dataset", "model"),
    ) -> Table[Any]:
        """Return rows as a table with the paper's title and notes."""
        paper = self.printed
        unit = f", {paper.unit}" if paper.unit not in ("", "t") else ""
        return Table(
            f"Table {paper.number} ({paper.name}): {paper.title}{unit}",
            tuple(columns),
            tuple(rows),
            (*paper.notes, *notes),
            tuple(parts),
            sections,
            {
                "title": paper.title,
                "table": f"table{paper.number}",
                "name": paper.name,
                "label": paper.label,
                "unit": paper.unit,
            },
        )

    def nothing_left(self, choice: Choice, cells: Path) -> ExperimentError:
        """Return the error for a choice that leaves no cell."""
        return choice.nothing_left(self.printed)


class TrainedExperiment(PaperExperiment):
    """A table whose numbers come from training cells."""

    @property
    def runs(self) -> PaperTable:
        """The paper's numbers; data sets with two splits appear once with each."""
        return replace(
            self.printed, cells=(*self.printed.cells, *self.printed.on_other_splits().cells)
        )

    def run(self, request: Request) -> bool:
        """Run the missing cells, and report on each."""
        printed, say, out = self.printed, request.say, request.out
        keys = request.choice.keys(self.runs)
        options = {field.name: getattr(request, field.name) for field in fields(Effort)}
        budget = Budget(seeds=request.seeds or 10, **options)
        there = Cell.read_all(out)
        known = {**Cell.read_all(), **there}
        todo = [key for key in keys if not is_done(there.get(key), budget)]
        # Ogbn-arxiv is too large to be downloaded unasked.
        absent = [k for k in todo if k.dataset == "arxiv" and not is_here("arxiv", request.root)]
        todo = [key for key in todo if key not in absent]
        say(f"table {printed.number} ({self.name}): {len(todo)} cells to run, {len(keys)} in all")
        if absent:
            say(
                f"left out: {len(absent)} cells of Ogbn-arxiv, whose files are missing; "
                "'graphsct data list' says where to put them"
            )
        if not todo:
            return not absent
        needed = estimate(todo, budget, load=request.load, known=known)
        say(f"about {_duration(needed)}; you can stop at any time and resume later")
        return run_all(request, todo, budget, known=known, table=f"table{printed.number}")


def run_all(
    request: Request,
    keys: Sequence[Key],
    budget: Budget,
    *,
    known: dict[Key, Cell],
    table: str,
    folder: str = "",
    same_start: bool = False,
) -> bool:
    """Run cells, report on each, and return whether all succeeded.

    Args:
        request: gives the data and the folders, and reports each result
        keys: keys of the cells
        budget: budget of each cell
        known: cells with settings
        table: name of the table
        folder: subfolder for the results, in the folders of the request
        same_start: start models with control from the weights of their base
    """
    good, started = True, time.perf_counter()
    outcomes = run_cells(
        keys,
        budget,
        load=request.load,
        known=known,
        out=request.out / folder,
        work=request.work / folder,
        table=table,
        same_start=same_start,
    )
    for number, outcome in enumerate(outcomes, start=1):
        spent = _duration(time.perf_counter() - started)
        request.say(f"[{number}/{len(keys)}, {spent}] {_line(outcome)}")
        good = good and outcome.stored is not None
    return good


def _line(outcome: CellOutcome[Cell]) -> str:
    if outcome.stored is None:
        return f"{outcome.key.name}: failed: {outcome.reason}"
    parts = []
    for rule in dict.fromkeys(run.select for run in outcome.stored.results):
        shares = [run.test_score for run in outcome.stored.runs(rule)]
        parts.append(f"{METRICS['accuracy'].show(shares)} ({len(shares)} runs, {rule})")
    return f"{outcome.key.name}: {', '.join(parts)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else str(timedelta(seconds=round(seconds)))
