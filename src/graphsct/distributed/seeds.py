"""Several seeds by all processes, in a run folder like that of one process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graphsct.distributed.collectives import lead, rank
from graphsct.distributed.fit import fit
from graphsct.distributed.part import Part
from graphsct.files import write_json
from graphsct.training.compare import Comparison, bar_title, folder_settings, variants
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.disk import saving
from graphsct.training.folder import RESULTS, open_folder, seed_folder
from graphsct.training.progress import Progress
from graphsct.training.run import Run
from graphsct.training.seeds import Results, build_seeds, split_of
from graphsct.training.tensorboard import TensorBoard

__all__ = ["train"]


def train(
    model: ModelConfig,
    part: Part,
    config: TrainConfig,
    seeds: Iterable[int],
    *,
    folder: Path,
    compare: bool = False,
    resume: bool = False,
    force: bool = False,
    tensorboard: bool = False,
) -> Comparison:
    """Train a model for each seed, one after another, as ``graphsct train`` does; all processes
    call this together.

    Args:
        model: settings of the model
        part: part of this process
        config: settings of training; their seed is not used
        seeds: one per run
        folder: for the settings, the results and the runs, of process 0
        compare: also train without control
        resume: continue the runs in an existing folder
        force: delete the runs in an existing folder
        tensorboard: write event files
    """
    models = variants(model, folder, compare)
    seeds = list(seeds)
    settings = folder_settings(_source(part), model, config, seeds)
    opened = open_folder(folder, settings, resume=resume, force=force)
    with ExitStack() as stack:
        lead(lambda: stack.enter_context(opened))
        results = [_runs(own, part, config, seeds, place, tensorboard) for own, place in models]
        found = Comparison(part.layout.name, len(part.splits), *results)
        lead(lambda: _write(folder, found))
    return found


def _source(part: Part) -> dict[str, Any]:
    layout = part.layout
    return {"name": layout.name, "parts": len(layout.parts), "partition": layout.sha256}


def _runs(
    model: ModelConfig,
    part: Part,
    config: TrainConfig,
    seeds: list[int],
    folder: Path,
    tensorboard: bool,
) -> Results:
    runs: list[Run] = []
    with ExitStack() as stack:
        bar = None
        if rank() == 0:
            bar = stack.enter_context(Progress(len(seeds), config.epochs, bar_title(model)))
        for built, seed in zip(build_seeds(partial(model.build, part), seeds), seeds, strict=True):
            place = seed_folder(folder, seed)
            with ExitStack() as inner:
                callbacks = []
                if tensorboard and rank() == 0:
                    callbacks.append(inner.enter_context(TensorBoard(place)))
                run = fit(
                    built,
                    part,
                    replace(config, seed=seed),
                    split=split_of(part, seed),
                    folder=place,
                    callbacks=callbacks,
                    progress=bar,
                )
            runs.append(run)
    return Results.of(model, part, config, runs)


def _write(folder: Path, found: Comparison) -> None:
    with saving(folder):
        write_json(folder / RESULTS, found.to_dict())
