"""Curves for the loggers of other projects, written to local files."""

from __future__ import annotations

import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from graphsct.extras import require
from graphsct.training.run import Epoch

__all__ = ["EpochLogger", "Logger", "MLflow", "WeightsAndBiases"]

_BATCH = 1000  # metrics that MLflow takes at once


class Logger(Protocol):
    """Anything that takes numbers by name."""

    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of one step."""


class EpochLogger(ABC):
    """A logger that is also a callback for :func:`~graphsct.fit` and a context.

    As a callback it logs the losses and scores of every epoch.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __call__(self, record: Epoch) -> None:
        """Log an epoch."""
        values = list(record._asdict().items())[1:]
        parts = ((*name.split("_"), value) for name, value in values)
        self.log({f"{kind}/{part}": value for part, kind, value in parts}, record.epoch)

    @abstractmethod
    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of one step."""

    @abstractmethod
    def close(self) -> None:
        """Finish the files."""


class WeightsAndBiases(EpochLogger):
    """Logs to an offline run of Weights & Biases, which ``wandb sync`` uploads.

    It needs the extra ``wandb``.

    Args:
        folder: where the run goes
        project: name of the project
    """

    def __init__(self, folder: str | os.PathLike[str], project: str = "graphsct") -> None:
        wandb = require("wandb", "wandb")
        Path(folder).mkdir(parents=True, exist_ok=True)
        # By default, a second logger would get the run of the first.
        self.run = wandb.init(
            project=project, dir=os.fspath(folder), mode="offline", reinit="create_new"
        )

    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of one step; steps must not decrease."""
        self.run.log(dict(scalars), step=step)

    def close(self) -> None:
        """Finish the run."""
        self.run.finish()


class MLflow(EpochLogger):
    """Logs a run to a local database of MLflow, ``mlflow.db``.

    It needs the extra ``mlflow``. ``mlflow ui --backend-store-uri sqlite:///mlflow.db`` shows it,
    with the whole package ``mlflow``, of which the extra installs the part that logs.

    Args:
        folder: where the database goes
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        mlflow = require("mlflow", "mlflow")
        path = Path(folder).resolve() / "mlflow.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._metric = require("mlflow.entities", "mlflow").Metric
        self.client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{path.as_posix()}")
        self.run_id: str = self.client.create_run(experiment_id="0").info.run_id

    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of one step; characters that MLflow refuses become ``_``."""
        now = int(1000 * time.time())
        metrics: list[Any] = [
            self._metric(re.sub(r"[^\w\-./ ]", "_", name), value, now, step)
            for name, value in scalars.items()
        ]
        for start in range(0, len(metrics), _BATCH):
            self.client.log_batch(self.run_id, metrics=metrics[start : start + _BATCH])

    def close(self) -> None:
        """Finish the run."""
        self.client.set_terminated(self.run_id)
