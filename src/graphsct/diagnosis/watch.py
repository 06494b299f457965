"""Diagnoses during training."""

from __future__ import annotations

import json
import logging
import math
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
from graphsct.errors import TrainingError
from graphsct.extras import require
from graphsct.files import parse_json, replacing
from graphsct.graph import Graph
from graphsct.nn.checks import check_module
from graphsct.training.checkpoint import LAYERS, naming
from graphsct.training.device import Mover
from graphsct.training.loggers import Logger
from graphsct.training.run import Epoch
from graphsct.training.tensorboard import TensorBoard

__all__ = ["SHARE", "Watch", "heat_map"]

_LOG = logging.getLogger(__name__)

#: Default of ``share``.
SHARE = 0.08

_CELL = 6  # pixels
_DEAD = (200, 16, 46)
_KEPT = ("epoch", "healthy", "verdict", "findings", "entry", "layers")


class Watch:
    """A context that diagnoses a model as it learns, in :func:`~graphsct.fit` or any other loop.

    Give it to ``fit`` as a callback, or call :meth:`step` after each epoch of a loop of your own.

    At regular epochs it writes a line to ``layers.jsonl`` with the verdict and the measures of
    every layer, except what control could reach. Training stays the same. An epoch is skipped if
    its diagnosis would exceed the share of the time, as happens where epochs take a millisecond:
    the first of them is logged as a warning, and ``skipped`` lists them all. A resumed run replaces
    its earlier lines from the epoch at which it resumes.

    Args:
        model: the model in training
        data: its training data
        folder: folder of the files
        every: number of epochs between two diagnoses; the first epoch is always diagnosed
        share: maximum time of the diagnoses, as a share of the time of training
        loggers: loggers of :meth:`Diagnosis.scalars`; the caller closes them
        tensorboard: also write event files with the same curves and heat maps; needs the extra
            ``tensorboard``
        layers: as for :func:`~graphsct.diagnose`
        graph: as for :func:`~graphsct.diagnose`
        call: as for :func:`~graphsct.diagnose`
        split: as for :func:`~graphsct.diagnose`

    Example:
        >>> import tempfile
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
        share: float = SHARE,
        loggers: Sequence[Logger] = (),
        tensorboard: bool = False,
        layers: Sequence[str] | None = None,
        graph: Graph | None = None,
        call: Call | None = None,
        split: int | None = None,
    ) -> None:
        if every < 1:
            raise TrainingError(f"every is {every}, expected 1 epoch or more")
        check_module(model)
        one = as_one_graph(data)
        self.model, self.data, self.call = model, _beside(model, one), call
        self.path, self.split = Path(folder) / LAYERS, split
        self.every, self.share, self.loggers = every, share, list(loggers)
        self._board: TensorBoard | None = None
        if tensorboard:
            self._board = TensorBoard(self.path.parent / "layers")
            self.loggers.append(self._board)
            require("torch.utils.tensorboard", "tensorboard")  # takes a second, but not of training
        self.graph = measured_graph(one) if graph is None else graph
        with undisturbed(model):
            run = prepare(model, self.data, call)
            self.layers = find_layers(model, run, self.graph.num_nodes, layers)
        #: The epochs that were due and not diagnosed, because there was no time.
        self.skipped: list[int] = []
        self._lines: list[str] | None = None
        self._asked: int | None = None  # the epoch of the last answer
        self._answer = False
        self._started: float | None = None
        self._looked = self._took = 0.0  # seconds, in all and the last time

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._board is not None:
            self._board.close()

    def looks(self, record: Epoch) -> bool:
        """Whether this epoch will be diagnosed; the model must then hold the epoch's weights."""
        return self._looks(record.epoch)

    def __call__(self, record: Epoch) -> None:
        """Take an epoch of :func:`~graphsct.fit`."""
        self.step(record.epoch)

    def step(self, epoch: int) -> Diagnosis | None:
        """Diagnose the model, if the epoch is due and there is time; ``None`` if not."""
        if not self._looks(epoch):
            return None
        self._answer = False  # an epoch is diagnosed once
        start = time.perf_counter()
        self._started = self._started or start
        found = diagnose(
            self.model,
            self.data,
            layers=self.layers,
            graph=self.graph,
            call=self.call,
            split=self.split,
            rival=False,
            influence=False,
            reach=False,
        )
        self._write(epoch, found)
        self._log(epoch, found)
        self._took = time.perf_counter() - start
        self._looked += self._took
        return found

    def _looks(self, epoch: int) -> bool:
        if epoch != self._asked:
            due = self._started is None or epoch % self.every == 0
            self._asked, self._answer = epoch, due and self._affordable()
            if due and not self._answer:
                self.skip(epoch)
        return self._answer

    def _affordable(self) -> bool:
        if self._started is None or self.share == math.inf:
            return True
        training = time.perf_counter() - self._started - self._looked
        return self._looked + self._took <= self.share * training

    def skip(self, epoch: int) -> None:
        """Skip an epoch that is due; the first one is logged as a warning."""
        if not self.skipped:
            _LOG.warning(
                f"epoch {epoch} is not diagnosed: that would take more than {self.share:.0%} of "
                "the training time; Watch.skipped lists all such epochs, share=math.inf skips none"
            )
        self.skipped.append(epoch)

    def _write(self, epoch: int, found: Diagnosis) -> None:
        if self._lines is None:
            with naming(self.path):  # it may be one that an earlier process has begun
                before = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
                lines = before.splitlines(keepends=True)
                self._lines = [line for line in lines if parse_json(line)["epoch"] < epoch]
        values = {"epoch": epoch, **found.to_dict()}
        self._lines.append(json.dumps({key: values[key] for key in _KEPT}, allow_nan=False) + "\n")
        with replacing(self.path) as temporary:
            temporary.write_text("".join(self._lines), encoding="utf-8")

    def _log(self, epoch: int, found: Diagnosis) -> None:
        for logger in self.loggers:
            logger.log(found.scalars(), epoch)
        if self._board is not None:
            self._board.log_image("smoothness", heat_map(found), epoch)


def _beside(model: torch.nn.Module, data: Any) -> Any:
    """The data on the device of the model."""
    weight = next(model.parameters(), None)
    there = getattr(getattr(data, "x", None), "device", None)
    if weight is None or there in (None, weight.device):
        return data
    return Mover(weight.device)(data)


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
