"""One run by all processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphsct.distributed.backend import Together
from graphsct.distributed.collectives import device, lead, lead_tensors, rank
from graphsct.distributed.noise import plan
from graphsct.distributed.norm import make_global
from graphsct.distributed.part import Part
from graphsct.engine.engine import supports
from graphsct.errors import ModelError
from graphsct.nn import GCN, GCNII, EnergeticGNN
from graphsct.training.checkpoint import Checkpoint, SingleRunFolder
from graphsct.training.config import TrainConfig
from graphsct.training.fingerprint import identify_on
from graphsct.training.fit import check_finite, result
from graphsct.training.run import Epoch, Run
from graphsct.training.trial import Trial, seeded

__all__ = ["fit"]


def fit(
    model: torch.nn.Module,
    part: Part,
    config: TrainConfig | None = None,
    *,
    split: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
) -> Run:
    """Train a model as :func:`graphsct.fit` does, with the nodes of all processes.

    All processes call this together, with the same arguments but for their parts. Losses,
    gradients and random numbers are those of one process but for rounding, and the same number of
    processes gives the same result bit for bit, also if it was killed and goes on.

    Args:
        model: of :mod:`graphsct.nn`; all processes begin with the weights that process 0 has
        part: what this process has
        config: how to train
        split: number of one of the data's splits
        folder: as for :func:`graphsct.fit`; only process 0 reads and writes it
        callbacks: called with every :class:`~graphsct.training.Epoch`, in each process
    """
    config = config or TrainConfig()
    if not isinstance(model, GCN | GCNII | EnergeticGNN):
        raise ModelError(
            f"{type(model).__name__} is not of graphsct.nn; only these know how to share a graph"
        )
    data = {"name": part.layout.name, "partition": part.layout.sha256, "split": split}
    identity = identify_on(model, data, config)
    engine = supports(model)
    make_global(model)
    with ExitStack() as stack:
        store = None
        if folder is not None and rank() == 0:
            store = SingleRunFolder(Path(folder), identity)
        over = lead(lambda: _finished(store, stack))
        if over is not None:
            model.load_state_dict(lead_tensors(lambda: _weights(store)))
            model.eval()
            return Run.from_dict(over)
        model.load_state_dict(lead_tensors(model.state_dict))
        model.to(device())
        problem = part.problem(split)
        way = Together(model, problem, config, plan(model, part, split or 0, engine=engine))
        return _train(Trial(model, problem, config, way), way, config, store, list(callbacks))


def _train(
    trial: Trial,
    way: Together,
    config: TrainConfig,
    store: SingleRunFolder | None,
    callbacks: list[Callable[[Epoch], object]],
) -> Run:
    started = time.perf_counter()
    with seeded(config.seed, 1):
        found = lead_tensors(lambda: _checkpoint(store))
        if found:
            started -= found.pop("seconds").item()
            trial.restore(found)
        while not trial.over:
            record = trial.step()
            check_finite(record, config, store)
            for callback in callbacks:
                callback(record)
            if store is not None and record.epoch % config.checkpoint_every == 0:
                seconds = time.perf_counter() - started
                store.save(Checkpoint(trial.state(), seconds), trial.history)
    seconds = lead(lambda: time.perf_counter() - started)
    run = result(trial, config, way.test(), seconds, interrupted=False)
    if store is not None:
        store.finish(run, trial.best)
    return run


def _finished(store: SingleRunFolder | None, stack: ExitStack) -> Any:
    """The values of a finished run with its history, ``None`` if it is not finished."""
    if store is None:
        return None
    found = stack.enter_context(store).finished()
    if found is None:
        return None
    run = found[0]
    return {**run.to_dict(), "history": [record._asdict() for record in run.history]}


def _weights(store: SingleRunFolder | None) -> dict[str, Tensor]:
    found = store.finished() if store is not None else None
    assert found is not None
    return found[1]


def _checkpoint(store: SingleRunFolder | None) -> dict[str, Tensor]:
    """The last checkpoint, and the seconds it took to get there; empty if there is none."""
    found = store.load() if store is not None else None
    if found is None:
        return {}
    return {**found.tensors, "seconds": torch.tensor(found.seconds, dtype=torch.float64)}
