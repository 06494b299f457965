"""Curves for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphsct.extras import require
from graphsct.training.loggers import EpochLogger

__all__ = ["TensorBoard"]


class TensorBoard(EpochLogger):
    """Logs to event files of TensorBoard.

    It needs the extra ``tensorboard``. A resumed run replaces its earlier events from the step at
    which it resumes.

    Args:
        folder: where the event files go
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        require("tensorboard", "tensorboard")
        self.folder = folder
        self._writer: Any = None

    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of one step."""
        for name, value in scalars.items():
            self._open(step).add_scalar(name, value, step)

    def log_image(self, name: str, image: npt.NDArray[np.uint8], step: int) -> None:
        """Log an image; shape: ``(height, width, 3)``."""
        self._open(step).add_image(name, image, step, dataformats="HWC")

    def close(self) -> None:
        """Finish the files."""
        if self._writer is not None:
            self._writer.close()

    def _open(self, step: int) -> Any:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter  # takes a second

            self._writer = SummaryWriter(os.fspath(self.folder), purge_step=step)
        return self._writer
