"""Training of one model by all processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from graphsct.distributed.backend import Distributed
from graphsct.distributed.collectives import device, lead, lead_tensors, rank
from graphsct.distributed.norm import make_global
from graphsct.distributed.part import Part
from graphsct.errors import ModelError, TrainingError
from graphsct.nn.feature_losses import FEATURE_LOSSES
from graphsct.nn.model import Model
from graphsct.training.checkpoint import Checkpoint, SingleRunFolder
from graphsct.training.config import TrainConfig
from graphsct.training.fingerprint import fingerprint
from graphsct.training.progress import Progress
from graphsct.training.run import Epoch, Run
from graphsct.training.runner import Callback, Job, train

__all__ = ["fit"]


def fit(
    model: torch.nn.Module,
    part: Part,
    config: TrainConfig | None = None,
    *,
    split: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    callbacks: Iterable[Callback] = (),
    progress: Progress | None = None,
) -> Run:
    """Train a model as :func:`graphsct.fit` does, with the nodes of all processes.

    All processes call this together, with the same arguments but for their parts. Losses,
    gradients and random numbers are those of one process but for rounding, and the same number of
    processes gives the same result bit for bit, also if it was killed and resumed.

    Args:
        model: model of :mod:`graphsct.nn`; all processes begin with the weights that process 0 has
        part: part of this process
        config: settings of training
        split: number of one of the data's splits
        folder: as for :func:`graphsct.fit`; only process 0 reads and writes it
        callbacks: called with every :class:`~graphsct.training.Epoch`, in each process
        progress: shows the run
    """
    config = config or TrainConfig()
    _check_model(model)
    _check_config(config)
    known = {"name": part.layout.name, "partition": part.layout.sha256, "split": split}
    own = fingerprint(model, known, config)
    make_global(model)
    model.load_state_dict(lead_tensors(model.state_dict))
    model.to(device())
    store = None if folder is None else _SharedFolder(Path(folder), own)
    job = Job(model, part.data(split), config, store, list(callbacks))
    backend = partial(Distributed, part=part, split=split or 0)
    (run,) = train([job], backend=backend, progress=progress)
    return replace(run, seconds=lead(lambda: run.seconds))


def _check_model(model: torch.nn.Module) -> None:
    """Refuse a model that needs more of the graph than one process has."""
    if not isinstance(model, Model):
        raise ModelError(
            f"{type(model).__name__} is not a model of graphsct.nn; only those can share a graph"
        )
    for name in ("edge_dropout", "message_dropout"):
        if rate := getattr(model, name):
            raise ModelError(
                f"{name} is {rate!r}, but no process has all edges to draw from; use {name}=0.0, "
                "or train in one process"
            )
    for name in FEATURE_LOSSES:
        if weight := getattr(model, name):
            raise ModelError(
                f"{name} is {weight!r}, but no process has the features of all nodes; use "
                f"{name}=0.0, or train in one process"
            )
    if model.residual == "gradient_gating":
        raise ModelError(
            "residual is 'gradient_gating', but no process has the neighbours of all its nodes; "
            "use residual='initial', or train in one process"
        )


def _check_config(config: TrainConfig) -> None:
    """Refuse settings of which one process alone is capable."""
    if config.metric not in (None, "accuracy"):
        raise TrainingError(
            f"metric is {config.metric!r}, which no process can compute from its own nodes; use "
            "metric='accuracy', or train in one process"
        )
    if config.precision is not None:
        raise TrainingError(
            f"precision is {config.precision!r}, which only one process can train in; use "
            "precision=None, or train in one process"
        )
    if config.batch_size is not None:
        raise TrainingError(
            f"batch_size={config.batch_size} is for lists of graphs, but the processes share one "
            "graph, which is trained as a whole; leave it out"
        )


class _SharedFolder(SingleRunFolder):
    """The folder of a run that process 0 alone reads and writes, for all processes."""

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any]) -> None:
        super().__init__(folder, fingerprint)
        self._leads = rank() == 0

    def __enter__(self) -> Self:
        lead(lambda: super(_SharedFolder, self).__enter__() and None)
        return self

    def __exit__(self, *error: object) -> None:
        if self._leads:
            super().__exit__(*error)

    def save(self, checkpoint: Checkpoint, history: list[Epoch]) -> None:
        if self._leads:
            super().save(checkpoint, history)

    def finish(self, run: Run, weights: dict[str, Tensor]) -> None:
        if self._leads:
            super().finish(run, weights)

    def load(self) -> Checkpoint | None:
        """The last checkpoint, on all processes."""

        def tensors() -> dict[str, Tensor]:
            found = super(_SharedFolder, self).load()
            if found is None:
                return {}
            return {**found.tensors, "seconds": torch.tensor(found.seconds, dtype=torch.float64)}

        found = lead_tensors(tensors)
        return Checkpoint(found, found.pop("seconds").item()) if found else None

    def finished(self) -> tuple[Run, dict[str, Tensor]] | None:
        """The result and the weights on all processes, if the run is over."""
        own: list[tuple[Run, dict[str, Tensor]]] = []

        def values() -> Any:
            found = super(_SharedFolder, self).finished()
            if found is None:
                return None
            own.append(found)
            run = found[0]
            return {**run.to_dict(), "history": [record._asdict() for record in run.history]}

        over = lead(values)
        if over is None:
            return None
        return Run.from_dict(over), lead_tensors(lambda: own[0][1])
