"""Training curves for TensorBoard."""

from __future__ import annotations

import os
from typing import Any, Self

from graphsct.extras import require
from graphsct.training.run import Epoch

__all__ = ["TensorBoard"]


class TensorBoard:
    """A callback and context that writes the losses and accuracies of every epoch.

    It needs the extra ``tensorboard``. A resumed run replaces its earlier events from the
    epoch at which it resumes.

    Args:
        folder: where the event files go
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        require("tensorboard", "tensorboard")
        self.folder = folder
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def __call__(self, record: Epoch) -> None:
        """Write an epoch."""
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter  # takes a second

            self._writer = SummaryWriter(os.fspath(self.folder), purge_step=record.epoch)
        for name, value in list(record._asdict().items())[1:]:
            part, kind = name.split("_")
            self._writer.add_scalar(f"{kind}/{part}", value, record.epoch)
