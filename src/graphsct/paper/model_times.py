"""The time to train a model and the time of its inference, for the paper's table of sizes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphsct.datasets.features import sparse_features
from graphsct.errors import ExperimentError
from graphsct.files import write_json
from graphsct.paper.cell import Key
from graphsct.paper.reproduce import Loader, command
from graphsct.records import Record
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.fit import fit
from graphsct.training.run import versions
from graphsct.training.seeding import seeded

__all__ = ["ModelTime", "ModelTimes", "measure_models", "read_models"]

_PASSES = 20


@dataclass(frozen=True)
class ModelTime(Record, flat=("key",), strict=True):
    """The times of a model.

    Args:
        key: key of its cell
        hidden: number of channels
        training_seconds: duration of one run with our default settings and early stopping
        epochs: number of epochs of that run
        inference_milliseconds: duration of one pass over all nodes, median of several
    """

    key: Key
    hidden: int
    training_seconds: float
    epochs: int
    inference_milliseconds: float


@dataclass(frozen=True)
class ModelTimes(Record, error=ExperimentError):
    """The measured times.

    Args:
        command: command that measures them
        threads: threads of PyTorch
        versions: versions of the software
        rows: one per model
    """

    command: str
    threads: int
    versions: dict[str, Any]
    rows: tuple[ModelTime, ...]


def measure_models(
    models: Sequence[tuple[Key, int]], *, load: Loader, out: Path
) -> Iterator[ModelTime]:
    """Measure the models that have no times yet; the file is rewritten after each.

    Args:
        models: keys with a depth, and numbers of channels
        load: function that loads data by name
        out: folder of cells; the file goes into its folder ``times``
    """
    rows = read_models(out)
    known = {(row.key, row.hidden) for row in rows}
    for key, hidden in models:
        if (key, hidden) in known:
            continue
        rows.append(_measure(key, hidden, load(key.dataset, False)))
        found = ModelTimes(
            command("reproduce table6"), torch.get_num_threads(), versions(), tuple(rows)
        )
        write_json(_path(out), found.to_dict())
        yield rows[-1]


def read_models(folder: Path) -> list[ModelTime]:
    """The measured times, none if nothing was measured."""
    path = _path(folder)
    return list(ModelTimes.from_file(path, "has no times").rows) if path.is_file() else []


def _path(folder: Path) -> Path:
    return folder / "times" / "sizes.json"


def _measure(key: Key, hidden: int, data: Any) -> ModelTime:
    config = ModelConfig(key.model, key.control, key.depth, hidden, activation=key.activation)
    with seeded(0):
        model = config.build(data)
    run = fit(model, data, TrainConfig(), progress=False)
    model.eval()
    x, passes = sparse_features(data.x), []
    with torch.no_grad():
        for _ in range(_PASSES):
            began = time.perf_counter()
            model(x, data.graph)
            passes.append(1e3 * (time.perf_counter() - began))
    return ModelTime(key, hidden, run.seconds, run.epochs, statistics.median(passes))
