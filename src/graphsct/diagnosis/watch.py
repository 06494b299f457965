"""Diagnoses during training."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from graphsct.diagnosis.calling import Call, prepare, undisturbed
from graphsct.diagnosis.diagnose import as_one_graph, diagnose, measured_graph
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.layers import find_layers
from graphsct.extras import require
from graphsct.files import replacing
from graphsct.graph import Graph
from graphsct.training.run import Epoch

__all__ = ["Watch", "heat_map"]

_LINES = "layers.jsonl"
_CELL = 6  # pixels
_DEAD = (200, 16, 46)
_KEPT = ("epoch", "healthy", "verdict", "findings", "entry_gradient", "layers")


class Watch:
    """A callback and context for :func:`~graphsct.fit` that diagnoses the model as it learns.

    At regular epochs it writes a line to ``layers.jsonl`` with the verdict and the measures of
    every layer, except what control could reach. The run stays the same. An epoch is skipped if
    its diagnosis would exceed the share of the time, as happens where epochs take a millisecond. A
    resumed run replaces its earlier lines from the epoch at which it resumes.

    Args:
        model: the model in training
        data: its training data
        folder: folder of the files
        every: number of epochs between two diagnoses; the first epoch is always diagnosed
        share: maximum time of the diagnoses, as a share of the time of training
        tensorboard: also write event files with a curve for each layer and heat maps; needs the
            extra ``tensorboard``
        layers: as for :func:`~graphsct.diagnose`
        graph: as for :func:`~graphsct.diagnose`
        call: as for :func:`~graphsct.diagnose`

    Example:
        >>> import math, tempfile
        >>> from graphsct import datasets, fit, nn
        >>> from graphsct.training import TrainConfig
        >>> data, model = datasets.demo(), nn.GCN(16, 8, 3, num_layers=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Watch(model, data, folder, every=10, share=math.inf) as watch:
        ...         run = fit(model, data, TrainConfig(epochs=20), callbacks=[watch])
        ...     len((Path(folder) / "layers.jsonl").read_text().splitlines())
        3
    """

    def __init__(
        self,
        model: torch.nn.Module,
        data: Any,
        folder: str | os.PathLike[str],
        *,
        every: int = 50,
        share: float = 0.08,
        tensorboard: bool = False,
        layers: Sequence[str] | None = None,
        graph: Graph | None = None,
        call: Call | None = None,
    ) -> None:
        if tensorboard:
            require("tensorboard", "tensorboard")
            require("torch.utils.tensorboard", "tensorboard")  # takes a second, but not of training
        self.model, self.data, self.call = model, as_one_graph(data), call
        self.path = Path(folder) / _LINES
        self.every, self.share = every, share
        self.graph = measured_graph(self.data) if graph is None else graph
        with undisturbed(model):
            run = prepare(model, self.data, call)
            self.layers = find_layers(model, run, self.graph.num_nodes, layers)
        self._tensorboard = tensorboard
        self._writer: Any = None
        self._lines: list[str] | None = None
        self._answer: tuple[int, bool] = (0, False)
        self._started: float | None = None
        self._looked = self._took = 0.0  # seconds, in all and the last time

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def looks(self, record: Epoch) -> bool:
        """Whether this epoch will be diagnosed; the model must hold its weights then."""
        if record.epoch != self._answer[0]:
            due = self._started is None or record.epoch % self.every == 0
            self._answer = record.epoch, due and self._affordable()
        return self._answer[1]

    def _affordable(self) -> bool:
        if self._started is None:
            return True
        training = time.perf_counter() - self._started - self._looked
        return self._looked + self._took <= self.share * training

    def __call__(self, record: Epoch) -> None:
        """Diagnose the model, if the epoch is due and there is time."""
        if not self.looks(record):
            return
        start = time.perf_counter()
        self._started = self._started or start
        found = diagnose(
            self.model,
            self.data,
            layers=self.layers,
            graph=self.graph,
            call=self.call,
            reach=False,
        )
        self._write(record.epoch, found)
        if self._tensorboard:
            self._draw(record.epoch, found)
        self._took = time.perf_counter() - start
        self._looked += self._took

    def _write(self, epoch: int, found: Diagnosis) -> None:
        if self._lines is None:
            before = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
            lines = before.splitlines(keepends=True)
            self._lines = [line for line in lines if json.loads(line)["epoch"] < epoch]
        values = {"epoch": epoch, **found.to_dict()}
        self._lines.append(json.dumps({key: values[key] for key in _KEPT}, allow_nan=False) + "\n")
        with replacing(self.path) as temporary:
            temporary.write_text("".join(self._lines), encoding="utf-8")

    def _draw(self, epoch: int, found: Diagnosis) -> None:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            folder = self.path.parent / "layers"
            self._writer = SummaryWriter(os.fspath(folder), purge_step=epoch)
        for number, layer in enumerate(found.layers, 1):
            curves = {
                "smoothness": layer.quartiles[1] if layer.quartiles else None,
                "dead": len(layer.dead) / layer.channels,
                "rank": layer.effective_rank,
                "contrast": layer.contrast,
                "norm": layer.norm,
                "gradient": layer.gradient_norm,
            }
            for name, value in curves.items():
                if value is not None:
                    self._writer.add_scalar(f"{name}/{number:02d} {layer.name}", value, epoch)
        self._writer.add_image("smoothness", heat_map(found), epoch, dataformats="HWC")


def heat_map(found: Diagnosis) -> npt.NDArray[np.uint8]:
    """Smoothness as an image with one row per layer and one column per dimension: black for 0,
    white for 1, red for dead, grey beyond the width of a layer; shape: ``(height, width, 3)``.
    """
    width = max(layer.channels for layer in found.layers)
    image = np.full((len(found.layers), width, 3), 128, dtype=np.uint8)
    for row, layer in zip(image, found.layers, strict=True):
        shades = np.round(255 * np.array(layer.smoothness))
        row[: layer.channels] = shades[:, None]
        row[list(layer.dead)] = _DEAD
    return image.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
