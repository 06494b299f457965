"""The runner: it drives a backend epoch by epoch, for every kind of training.

:class:`Runner` selects epochs, keeps histories and lets runs leave; it never sees a test node.
:func:`train` adds folders, callbacks, Ctrl-C, and the one look at the test nodes.
"""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import torch
from torch import Tensor

from graphsct.errors import DivergedError
from graphsct.training.backend import MakeBackend, choose_backend
from graphsct.training.checkpoint import CHECKPOINT, WEIGHTS, Checkpoint, SingleRunFolder, naming
from graphsct.training.config import TrainConfig
from graphsct.training.data import SplitData, TrainingData
from graphsct.training.device import name_device
from graphsct.training.progress import Progress
from graphsct.training.run import Epoch, Run, versions
from graphsct.training.selection import Selection
from graphsct.training.tracks import tracks

__all__ = ["Best", "Callback", "Job", "Runner", "train"]

Callback = Callable[[Epoch], object]

_LOG = logging.getLogger(__name__)


class Best(NamedTuple):
    """The best epoch of a run so far, and the number of its epochs."""

    val_score: float
    val_loss: float
    best_epoch: int
    epochs: int


class Runner:
    """Runs of one shape, trained together epoch by epoch and identified by their numbers.

    Runs that differ only in the rule that selects their epoch share one *track*: it is trained
    once, until the last of its runs is over.

    Args:
        models: models of equal shape for the engine, any models for other backends
        data: one per model
        configs: one per model, with the same ``epochs``, ``patience``, ``least_epochs`` and
            ``metric``
        backend: the backend; defaults to the fastest one that fits

    Example:
        >>> from graphsct import datasets, nn
        >>> data = SplitData.of(datasets.demo())
        >>> runner = Runner([nn.GCN(16, 8, 3, num_layers=2)], [data], [TrainConfig(epochs=3)])
        >>> [len(runner.histories[0]) for _ in runner.epochs()]
        [1, 2, 3]
    """

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        data: Sequence[TrainingData],
        configs: Sequence[TrainConfig],
        backend: MakeBackend | None = None,
    ) -> None:
        self.limit = configs[0].epochs
        self.histories: list[list[Epoch]] = [[] for _ in models]
        #: The runs that are not over.
        self.going = list(range(len(models)))
        #: The runs whose losses were not finite in this epoch.
        self.diverged: list[int] = []
        self._track_of = tracks(models, data, configs)
        self._tracks = list(dict.fromkeys(self._track_of))  # those that are trained
        # The best weights of runs that share a track; the backend keeps those of the others.
        self._shared: dict[int, dict[str, Tensor]] = {
            run: {} for run, track in enumerate(self._track_of) if self._track_of.count(track) > 1
        }
        make = backend or choose_backend(models[0], data[0])
        self.backend = make(
            # A run that is over gets its best weights while others still train on its track.
            [
                copy.deepcopy(models[track]) if track in self._shared else models[track]
                for track in self._tracks
            ],
            [data[track] for track in self._tracks],
            [configs[track] for track in self._tracks],
        )
        rules = [config.select for config in configs]
        larger = data[0].objective.metric.larger
        self._selection = Selection(
            rules,
            configs[0].patience,
            (len(models),),
            least=configs[0].least_epochs,
            larger=larger,
        )

    @property
    def epoch(self) -> int:
        """Number of epochs so far."""
        return self._selection.epoch

    @property
    def over(self) -> list[int]:
        """The runs that have waited long enough or reached their last epoch."""
        if self.epoch >= self.limit:
            return list(self.going)
        stopped = self._selection.stopped.tolist()
        return [run for run, over in zip(self.going, stopped, strict=True) if over]

    def epochs(
        self, until: float = math.inf, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Train, and yield after each epoch; finished and diverged runs leave after that.

        Args:
            until: the last epoch to train
            stop: asked before each epoch; training ends if it returns true
        """
        while self.going and self.epoch < until and not stop():
            self._step()
            gone = {*self.over, *self.diverged}
            yield
            self.leave(gone)

    def _step(self) -> None:
        """Train for one epoch, validate, and keep the weights that are the best so far."""
        numbers = torch.stack([self.backend.descend(), *self.backend.validate()])
        if self._shared:
            numbers = numbers[:, [self._place(run) for run in self.going]]
        better = self._selection.update(numbers[1], numbers[3])
        self.diverged = []
        for run, row in zip(self.going, numbers.t().tolist(), strict=True):
            self.histories[run].append(Epoch(self.epoch, *row))
            if not (math.isfinite(row[0]) and math.isfinite(row[1])):
                self.diverged.append(run)
        if bool(better.any()):
            self._remember(better)

    def _place(self, run: int) -> int:
        """Position of the track of a run in the backend."""
        return self._tracks.index(self._track_of[run])

    def _remember(self, better: Tensor) -> None:
        if not self._shared:
            self.backend.remember(better)
            return
        alone = torch.zeros(len(self._tracks), dtype=torch.bool)
        for run in (self.going[place] for place in better.nonzero()[:, 0].tolist()):
            if run in self._shared:
                self._shared[run] = self.backend.current(self._place(run))
            else:
                alone[self._place(run)] = True
        self.backend.remember(alone)

    def best(self, run: int) -> Best:
        """The best epoch of a run so far."""
        place, chosen = self.going.index(run), self._selection
        return Best(
            val_score=chosen.val_score[place].item(),
            val_loss=chosen.val_loss[place].item(),
            best_epoch=int(chosen.best_epoch[place]),
            epochs=self.epoch,
        )

    def weights(self, run: int) -> dict[str, Tensor]:
        """The weights of a run's best epoch."""
        return self._shared.get(run) or self.backend.weights(self._place(run))

    def current(self, run: int) -> dict[str, Tensor]:
        """The weights of a run after this epoch."""
        return self.backend.current(self._place(run))

    def state(self, run: int) -> dict[str, Tensor]:
        """Everything that the rest of a run depends on, by name, and its history."""
        place = self.going.index(run)
        chosen = self._selection.state()
        alone = {k: v if k == "epoch" else v[place] for k, v in chosen.items()}
        return {
            **self.backend.state(self._place(run), self._shared.get(run) or None),
            **{f"selection.{name}": tensor for name, tensor in alone.items()},
            "history": torch.tensor(self.histories[run], dtype=torch.float64),
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue a single run from its :meth:`state`, bit for bit."""
        self.backend.restore(tensors)
        prefix = "selection."
        self._selection.restore(
            {
                name.removeprefix(prefix): tensor if name.endswith(".epoch") else tensor.view(1)
                for name, tensor in tensors.items()
                if name.startswith(prefix)
            }
        )
        self.histories = [[Epoch(int(row[0]), *row[1:]) for row in tensors["history"].tolist()]]

    def leave(self, runs: Collection[int]) -> None:
        """Continue without these runs."""
        rest = [place for place, run in enumerate(self.going) if run not in runs]
        if len(rest) == len(self.going):
            return
        self.going = [self.going[place] for place in rest]
        self._selection.keep(torch.tensor(rest, dtype=torch.long))
        if not self.going:
            return
        left = {self._track_of[run] for run in self.going}
        if len(left) < len(self._tracks):
            places = [place for place, track in enumerate(self._tracks) if track in left]
            self._tracks = [self._tracks[place] for place in places]
            self.backend.keep(torch.tensor(places))


class Job(NamedTuple):
    """A run to be trained.

    Args:
        model: gets the weights of the best epoch
        data: data for training and testing
        config: settings of training
        store: files of the run, if it is stored
        callbacks: called with every epoch
    """

    model: torch.nn.Module
    data: SplitData
    config: TrainConfig
    store: SingleRunFolder | None = None
    callbacks: Sequence[Callback] = ()


def train(
    jobs: Sequence[Job],
    *,
    backend: MakeBackend | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[Run]:
    """Train runs of one shape together, and test each when it is over.

    A single job continues the run in its store, or only reads it if it is over. Several jobs begin
    anew.

    Args:
        jobs: one per run, with the same limits
        backend: the backend; defaults to the fastest one that fits
        progress: shows the first unfinished run
        stop: asked after each epoch; if it returns true, the runs are saved and interrupted

    Returns:
        One run per job
    """
    with ExitStack() as stack:
        for job in jobs:
            if job.store is not None:
                stack.enter_context(job.store)
        if len(jobs) == 1 and (over := _read(jobs[0])) is not None:
            if progress is not None:
                progress.next_run()
            return [over]
        return _Training(jobs, backend, progress).run(stop)


def _read(job: Job) -> Run | None:
    """A finished run, with its weights loaded into the model."""
    found = None if job.store is None else job.store.finished()
    if job.store is None or found is None:
        return None
    run, weights = found
    with naming(job.store.folder / WEIGHTS):
        job.model.load_state_dict(weights)
    job.model.eval()
    return run


class _Training:
    """Jobs in training."""

    def __init__(
        self, jobs: Sequence[Job], backend: MakeBackend | None, progress: Progress | None
    ) -> None:
        self.jobs, self.progress = jobs, progress
        self.started = time.perf_counter()
        self.runs: dict[int, Run] = {}
        self.runner = Runner(
            [job.model for job in jobs],
            [job.data for job in jobs],
            [job.config for job in jobs],
            backend,
        )

    def run(self, stop: Callable[[], bool]) -> list[Run]:
        runner, every = self.runner, self.jobs[0].config.checkpoint_every
        if len(self.jobs) == 1:
            self._resume(self.jobs[0].store)
            self._finish(runner.over)  # it may have ended with its last checkpoint
            runner.leave(runner.over)
        for _ in runner.epochs():
            self._tell()
            stopped = stop()
            if stopped or runner.epoch % every == 0:
                self._save()
            self._finish(runner.over)
            if stopped:
                self._finish(
                    [run for run in runner.going if run not in self.runs], interrupted=True
                )
                break
        return [self.runs[run] for run in sorted(self.runs)]

    @property
    def seconds(self) -> float:
        """Seconds of each run so far; runs that are trained together share the time."""
        return (time.perf_counter() - self.started) / len(self.jobs)

    def _resume(self, store: SingleRunFolder | None) -> None:
        if store is None:
            return
        checkpoint = store.load()
        if checkpoint is not None:
            with naming(store.folder / CHECKPOINT):
                self.runner.restore(checkpoint.tensors)
            self.started -= checkpoint.seconds

    def _tell(self) -> None:
        """Raise an error if a loss is not finite, else call the callbacks."""
        for run in self.runner.diverged:
            _refuse(self.runner.histories[run][-1], self.jobs[run])
        for run in self.runner.going:
            record = self.runner.histories[run][-1]
            for callback in self.jobs[run].callbacks:
                if hasattr(callback, "looks") and callback.looks(record):
                    self.jobs[run].model.load_state_dict(self.runner.current(run))
                callback(record)
        if self.progress is not None:
            self.progress(self.runner.histories[self.runner.going[0]][-1])

    def _save(self) -> None:
        for run in self.runner.going:
            store = self.jobs[run].store
            if store is not None:
                checkpoint = Checkpoint(self.runner.state(run), self.seconds)
                store.save(checkpoint, self.runner.histories[run])

    def _finish(self, over: Sequence[int], interrupted: bool = False) -> None:
        """Test runs with their best weights, and store their results."""
        for run in over:
            job, weights = self.jobs[run], self.runner.weights(run)
            job.model.load_state_dict(weights)
            self.runs[run] = Run(
                test_score=job.data.test_score(job.model),
                **self.runner.best(run)._asdict(),
                seconds=self.seconds,
                interrupted=interrupted,
                config=job.config,
                versions=versions(name_device(job.data.x.device)),
                history=tuple(self.runner.histories[run]),
                backend=self.runner.backend.name,
                metric=job.data.objective.metric.name,
            )
            if job.store is not None and not interrupted:
                job.store.finish(self.runs[run], weights)
            _LOG.debug(
                "%s%s, by the backend %s: %d epochs in %.1f s, the best is epoch %d; validation "
                "score %.4f, test score %.4f",
                type(job.model).__name__,
                " (interrupted)" * interrupted,
                self.runs[run].backend,
                self.runs[run].epochs,
                self.runs[run].seconds,
                self.runs[run].best_epoch,
                self.runs[run].val_score,
                self.runs[run].test_score,
            )
            if self.progress is not None:
                self.progress.next_run()


def _refuse(record: Epoch, job: Job) -> None:
    kept = ""
    if job.store is not None and job.store.kept:
        kept = f"; the checkpoint of epoch {job.store.kept} is kept in {job.store.folder}"
    raise DivergedError(
        f"in epoch {record.epoch} the training loss is {record.train_loss} and the validation loss "
        f"is {record.val_loss}: the weights diverged. Lower learning_rate, which is "
        f"{job.config.learning_rate}{kept}"
    )
