"""The learned terms of cells. Each cell is trained with the term and without it, from the same
first weights, and both models are measured. Each cell is a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from graphsct.paper.cell import Cell, CellSettings, Key, Stored
from graphsct.paper.probe import probe
from graphsct.paper.probed import LayerTerm, Probed
from graphsct.paper.reproduce import Loader, command
from graphsct.paper.workplace import CellOutcome, clear_runs, each_cell, runs_folder, train_runs
from graphsct.records import Record
from graphsct.training.config import TrainConfig
from graphsct.training.data import SplitData
from graphsct.training.folder import seed_folder
from graphsct.training.run import versions
from graphsct.training.seeding import seeded
from graphsct.training.seeds import split_of

__all__ = ["BestEpochs", "Term", "TermRun", "measure_terms"]


class BestEpochs(NamedTuple):
    """The selected epochs of a model with the term and of one that was trained without it."""

    with_term: int
    base: int


@dataclass(frozen=True)
class TermRun(Record, flat=("probed",), strict=True):
    """A pair of models, with the term and without.

    Args:
        seed: seed of both
        split: number of the split, ``None`` if the data have a single one
        best_epoch: the selected epochs
        probed: the effect of the term
    """

    seed: int
    split: int | None
    best_epoch: BestEpochs
    probed: Probed


@dataclass(frozen=True)
class Term(Stored):
    """The term of one cell.

    Args:
        key: key of the cell
        settings: settings of all runs; those without the term differ only in the control
        runs: one per seed
        command: command that reproduces it
        versions: versions of the software
    """

    subfolder = "terms"
    kind = "term"

    settings: CellSettings
    runs: tuple[TermRun, ...] = ()
    command: str = ""
    versions: dict[str, Any] | None = None

    @property
    def layers(self) -> list[LayerTerm]:
        """The layers of all runs."""
        return [layer for run in self.runs for layer in run.probed.layers]


def measure_terms(
    cells: Iterable[Cell],
    seeds: int = 3,
    *,
    load: Loader,
    out: Path,
    work: Path,
) -> Iterator[CellOutcome[Term]]:
    """Measure one cell after another, except those that were measured before.

    Ctrl-C raises :class:`KeyboardInterrupt` after the current runs have been saved.

    Args:
        cells: cells with control, whose settings are used
        seeds: number of runs of each, with the term and without; on data with ten splits, seed i
            uses split i modulo 10
        load: function that loads data by name, with normalized rows or without
        out: folder of cells; the files go into its folder ``terms``
        work: folder for runs in progress
    """
    by_key = {cell.key: cell for cell in cells}

    def make(key: Key, place: Path) -> Term:
        cell, path = by_key[key], Term.path(out, key)
        term = Term.read(path) if path.is_file() else Term(key, cell.settings)
        known = term.runs if term.settings == cell.settings else ()
        missing = sorted(set(range(seeds)) - {run.seed for run in known})
        if missing:
            runs = [*known, *_measure(cell, missing, load, place)]
            runs.sort(key=lambda run: run.seed)
            where = dict(data=key.dataset, model=key.model, depth=key.depth)
            made_by = command("reproduce term", **where, seeds=len(runs))
            term = Term(key, cell.settings, tuple(runs), made_by, versions())
            term.write(out)
            clear_runs(place)
        return term

    return each_cell(by_key, out, work / "terms", make)


def _measure(cell: Cell, seeds: list[int], load: Loader, work: Path) -> Iterator[TermRun]:
    settings = cell.settings
    data = load(cell.key.dataset, settings.normalize)
    splits = [split_of(data, seed) for seed in seeds]
    configs = [_config(settings, seed) for seed in seeds]
    pairs = [_pair(settings, data, seed) for seed in seeds]
    models = [model for side in zip(*pairs, strict=True) for model in side]
    folders = [
        seed_folder(runs_folder(work, settings) / side, seed)
        for side in BestEpochs._fields
        for seed in seeds
    ]
    runs = train_runs(cell.key, models, data, 2 * configs, 2 * splits, folders)
    trained = zip(runs[: len(seeds)], runs[len(seeds) :], strict=True)
    for seed, split, pair, both in zip(seeds, splits, pairs, trained, strict=True):
        epochs = BestEpochs(*(run.best_epoch for run in both))
        yield TermRun(seed, split, epochs, probe(*pair, SplitData.of(data, split), seed))


def _config(settings: CellSettings, seed: int) -> TrainConfig:
    return replace(settings.train, select=settings.rules[0], seed=seed)


def _pair(settings: CellSettings, data: Any, seed: int) -> tuple[torch.nn.Module, torch.nn.Module]:
    """A model with the term and one without, with the same first weights."""
    with seeded(seed):
        model = settings.model.build(data)
        base = replace(settings.model, control=None).build(data)
    shared = {name: w for name, w in model.state_dict().items() if ".control." not in name}
    base.load_state_dict(shared)
    return model, base
