"""Diagnoses during training by Lightning."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

from graphsct.diagnosis.calling import Call
from graphsct.diagnosis.layers import named_layers
from graphsct.diagnosis.watch import SHARE, Watch
from graphsct.extras import require
from graphsct.graph import Graph

__all__ = ["LightningWatch"]


class LightningWatch:
    """A ``Callback`` for the ``Trainer`` of Lightning that diagnoses its module as it learns.

    It passes each epoch, numbered from 0 as by Lightning, to a :class:`Watch`, and the numbers of
    each diagnosis to the trainer's loggers. Of several processes, only the first one diagnoses. It
    needs the extra ``lightning``.

    Args:
        data: the training data
        folder: folder of ``layers.jsonl``
        part: name of the part of the module that is the model, such as ``net``; by default the
            module itself, whose ``forward`` is called
        every: as for :class:`Watch`
        share: as for :class:`Watch`
        layers: as for :func:`~graphsct.diagnose`, named as in ``part``
        graph: as for :func:`~graphsct.diagnose`
        call: as for :func:`~graphsct.diagnose`
    """

    #: The watch of the training in progress, or of the last one.
    watch: Watch

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Derive from Lightning's class here, so that only its users import it."""
        callback = require("lightning", "lightning").Callback
        whole = cls if issubclass(cls, callback) else type(cls.__name__, (cls, callback), {})
        return super().__new__(whole)

    def __init__(
        self,
        data: Any,
        folder: str | os.PathLike[str],
        *,
        part: str = "",
        every: int = 50,
        share: float = SHARE,
        layers: Sequence[str] | None = None,
        graph: Graph | None = None,
        call: Call | None = None,
    ) -> None:
        self._part = part
        self._watch = partial(
            Watch,
            data=data,
            folder=folder,
            every=every,
            share=share,
            layers=layers,
            graph=graph,
            call=call,
        )

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Find the layers of the model."""
        if self._part:
            named_layers(pl_module, [self._part])  # or an error that names the nearest one
        model = pl_module.get_submodule(self._part)
        self.watch = self._watch(model, loggers=[_Loggers(trainer)])

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Pass an epoch to the watch."""
        if trainer.is_global_zero:
            self.watch.step(trainer.current_epoch)


class _Loggers:
    """The loggers of a trainer."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def log(self, scalars: Mapping[str, float], step: int) -> None:
        """Log the numbers of an epoch at its last step, as Lightning does.

        Lightning's ``log_dict`` is too slow for so many: as slow as a diagnosis of a small graph.
        """
        for logger in self._trainer.loggers:
            logger.log_metrics({**scalars, "epoch": step}, self._trainer.global_step - 1)
