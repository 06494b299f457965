"""The learned terms of cells: each is trained as its cell, and measured beside a model that was
trained without it from the same first weights. Each cell is a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from graphsct.errors import ExperimentError, GraphsctError
from graphsct.files import write_json
from graphsct.paper.cell import PACKAGED, Cell, CellSettings, Key
from graphsct.paper.probe import probe
from graphsct.paper.reproduce import Loader
from graphsct.paper.workplace import alone, clear_runs, runs_folder
from graphsct.records import Record
from graphsct.training.config import TrainConfig
from graphsct.training.data import SplitData
from graphsct.training.interrupt import interruptible
from graphsct.training.many import fit_many
from graphsct.training.progress import Progress
from graphsct.training.run import versions
from graphsct.training.seeding import seeded
from graphsct.training.seeds import seed_folder, split_of

__all__ = ["Measured", "Term", "measure_terms", "read_terms"]


@dataclass(frozen=True)
class Term(Record, flat=("key",), error=ExperimentError):
    """The term of one cell.

    Args:
        key: key of the cell
        settings: settings of all runs; those without the term differ only in the control
        runs: one per seed, with its ``seed``, ``split``, the ``best_epoch`` of both models and the
            result of :func:`~graphsct.paper.probe.probe`
        command: command that reproduces it
        versions: versions of the software
    """

    key: Key
    settings: CellSettings
    runs: tuple[dict[str, Any], ...]
    command: str = ""
    versions: dict[str, Any] | None = None


@dataclass(frozen=True)
class Measured:
    """The outcome of a cell: its term, or the reason for its failure."""

    key: Key
    term: Term | None = None
    reason: str = ""


def read_terms(folder: Path = PACKAGED) -> dict[Key, Term]:
    """The terms that were measured, by the keys of their cells.

    Args:
        folder: folder of the cells; terms are in its folder ``terms``
    """
    # A killed process may leave files whose names begin with a dot.
    found = [_read(path) for path in sorted((folder / "terms").glob("[!.]*.json"))]
    return {term.key: term for term in found}


def _read(path: Path) -> Term:
    try:
        term = Term.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ExperimentError(f"{path} is not a term: {error}; mend it or delete it") from error
    if path.stem != term.key.name:
        raise ExperimentError(f"{path} is the term of {term.key.name}; give it that name")
    return term


def measure_terms(
    cells: Iterable[Cell],
    seeds: int = 3,
    *,
    load: Loader,
    out: Path,
    work: Path,
    progress: bool = True,
) -> Iterator[Measured]:
    """Measure one cell after another, except those that were measured before.

    Ctrl-C raises :class:`KeyboardInterrupt` after the current runs have been saved.

    Args:
        cells: cells with control, whose settings are used
        seeds: number of runs of each, with the term and without; on data with ten splits, seed i
            uses split i modulo 10
        load: function that loads data by name, with normalized rows or without
        out: folder of cells; the files go into its folder ``terms``
        work: folder for runs in progress
        progress: show the progress, if standard error is a terminal
    """
    with interruptible() as asked:
        for cell in cells:
            path, place = out / "terms" / f"{cell.key.name}.json", work / "terms" / cell.key.name
            try:
                with alone(place):
                    term = _read(path) if path.is_file() else Term(cell.key, cell.settings, ())
                    term = term if term.settings == cell.settings else replace(term, runs=())
                    missing = [seed for seed in range(seeds) if seed not in _seeds(term)]
                    if missing:
                        runs = [*term.runs, *_measure(cell, missing, load, place, progress)]
                        runs.sort(key=lambda run: int(run["seed"]))
                        made = _command(cell.key, len(runs)), versions()
                        term = Term(cell.key, cell.settings, tuple(runs), *made)
                        write_json(path, term.to_dict())
                        clear_runs(place)
                measured = Measured(cell.key, term)
            except (GraphsctError, OSError) as error:
                measured = Measured(cell.key, reason=str(error))
            if asked():
                raise KeyboardInterrupt
            yield measured


def _seeds(term: Term) -> set[int]:
    return {run["seed"] for run in term.runs}


def _command(key: Key, seeds: int) -> str:
    depth = "" if key.depth is None else f" --depth {key.depth}"
    where = f"--dataset {key.dataset} --model {key.model}{depth}"
    return f"graphsct reproduce term {where} --seeds {seeds}"


def _measure(
    cell: Cell, seeds: list[int], load: Loader, work: Path, progress: bool
) -> Iterator[dict[str, Any]]:
    settings = cell.settings
    data = load(cell.key.dataset, settings.normalize)
    splits = [split_of(data, seed) for seed in seeds]
    configs = [_config(settings, seed) for seed in seeds]
    pairs = [_pair(settings, data, seed) for seed in seeds]
    models = [model for side in zip(*pairs, strict=True) for model in side]
    folders = [
        seed_folder(runs_folder(work, settings) / side, seed)
        for side in ("with_term", "base")
        for seed in seeds
    ]
    with ExitStack() as stack:
        title = f"{cell.key.name}, run"
        bar = Progress(len(models), settings.train.epochs, title) if progress else None
        if bar is not None:
            stack.enter_context(bar)
        both: Any = dict(configs=2 * configs, splits=2 * splits, folders=folders)
        runs = fit_many(models, data, **both, progress=bar)
    if len(runs) < len(models) or any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    trained = list(zip(runs[: len(seeds)], runs[len(seeds) :], strict=True))
    for seed, split, pair, (ours, base) in zip(seeds, splits, pairs, trained, strict=True):
        yield {
            "seed": seed,
            "split": split,
            "best_epoch": {"with_term": ours.best_epoch, "base": base.best_epoch},
            **probe(*pair, SplitData.of(data, split), seed),
        }


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
