"""Diagnoses during the training of several seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from graphsct.diagnosis.watch import SHARE, Watch
from graphsct.training.seeds import split_of

__all__ = ["SeedWatches"]


class SeedWatches:
    """Makes a :class:`Watch` for each run of :func:`~graphsct.training.compare.compare_control`.

    Args:
        data: the data of the training
        every: as for :class:`Watch`
    """

    def __init__(self, data: Any, every: int) -> None:
        self.data, self.every = data, every
        self._watches: list[Watch] = []

    def __call__(self, model: torch.nn.Module, folder: Path, seed: int, together: int) -> Watch:
        """Watch a run.

        Args:
            model: its model
            folder: its folder
            seed: its seed, which decides its split
            together: number of runs that are trained together and share the time for diagnoses
        """
        watch = _Silent(
            model,
            self.data,
            folder,
            every=self.every,
            share=SHARE / together,
            split=split_of(self.data, seed),
        )
        self._watches.append(watch)
        return watch

    @property
    def num_skipped(self) -> int:
        """Number of diagnoses that were due and skipped, because there was no time."""
        return sum(len(watch.skipped) for watch in self._watches)

    @property
    def notice(self) -> str:
        """One line for the user about the skipped diagnoses."""
        return (
            f"skipped diagnoses: {self.num_skipped}, because all together may take at most "
            f"{SHARE:.0%} of the training time"
        )


class _Silent(Watch):
    """A watch that logs no warning, since there are many watches."""

    def skip(self, epoch: int) -> None:
        """Leave out an epoch that is due."""
        self.skipped.append(epoch)
