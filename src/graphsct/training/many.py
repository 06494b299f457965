"""Many runs at once."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from graphsct.datasets.splits import Split
from graphsct.errors import TrainingError
from graphsct.training.checkpoint import Checkpoint, SingleRunFolder
from graphsct.training.config import MODELS, TrainConfig
from graphsct.training.fit import check_finite, fit
from graphsct.training.identity import identify
from graphsct.training.interrupt import interruptible
from graphsct.training.problem import Problem
from graphsct.training.progress import Progress
from graphsct.training.run import Epoch, Run, versions
from graphsct.training.selection import Selection
from graphsct.training.trial import fits_engine, make_engine, pack, seed_of, test

__all__ = ["fit_many"]

#: Hidden features of all runs in a batch, in numbers: as many as stay near the processor.
_NEAR = 1 << 18

Place = str | os.PathLike[str] | None


def fit_many(
    models: Sequence[torch.nn.Module],
    data: Any,
    configs: TrainConfig | Sequence[TrainConfig] | None = None,
    *,
    splits: Sequence[int | Split | None] | None = None,
    folders: Sequence[Place] | None = None,
    at_once: int | None = None,
    progress: Progress | None = None,
) -> list[Run]:
    """Train many models as :func:`~graphsct.fit` would one by one, in a fraction of the time.

    Models of the same shape are trained together: their weights are stacked, one sparse product
    serves all, and a run that is over leaves the others. Each has its own seed, split, learning
    rate, weight decay and dropout. The results are those of :func:`~graphsct.fit` with the same
    config, up to rounding. Models that cannot be trained together are trained one by one.

    Args:
        models: each is left with the weights of its best epoch
        data: as for :func:`~graphsct.fit`
        configs: one for each model, or one for all
        splits: one for each model, as for :func:`~graphsct.fit`; the data's masks if left out
        folders: one for each model, as for :func:`~graphsct.fit`; a run that is already there
            goes on, or is only read if it is over
        at_once: most runs in a batch; as many as stay near the processor if left out
        progress: shows the first run that is still going

    Returns:
        One run for each model. After Ctrl-C, those that were begun: runs that were interrupted
        say so, and keep their best so far.

    Example:
        >>> from graphsct import datasets, nn
        >>> data = datasets.demo()
        >>> models = [nn.GCN(16, 8, 3, num_layers=2) for _ in range(4)]
        >>> configs = [TrainConfig(epochs=20, seed=seed) for seed in range(4)]
        >>> [run.epochs for run in fit_many(models, data, configs)]
        [20, 20, 20, 20]
    """
    k = len(models)
    if configs is None or isinstance(configs, TrainConfig):
        configs = [configs or TrainConfig()] * k
    splits = [None] * k if splits is None else splits
    places: Sequence[Place] = [None] * k if folders is None else folders
    for name, given in (("configs", configs), ("splits", splits), ("folders", places)):
        if len(given) != k:
            raise TrainingError(f"there are {k} models and {len(given)} {name}; give one for each")
    plain = [not isinstance(model, tuple(MODELS.values())) for model in models]
    problems = [Problem.of(data, split, plain=p) for split, p in zip(splits, plain, strict=True)]
    batches: dict[Any, list[int]] = {}
    for run, model in enumerate(models):
        alone = not fits_engine(model, problems[run]) or _begun(places[run])
        batches.setdefault(run if alone else _shape(model, configs[run]), []).append(run)
    runs: dict[int, Run] = {}
    for batch in batches.values():
        size = at_once or max(1, _NEAR // _size(models[batch[0]], problems[batch[0]]))
        for start in range(0, len(batch), size):
            part = batch[start : start + size]
            if len(part) == 1:
                (i,) = part
                callbacks: list[Any] = [] if progress is None else [progress]
                runs[i] = fit(
                    models[i],
                    data,
                    configs[i],
                    split=splits[i],
                    folder=places[i],
                    callbacks=callbacks,
                    progress=False,
                )
                if progress is not None:
                    progress.next_run()
            else:
                made = _Batch(
                    [models[i] for i in part],
                    [problems[i] for i in part],
                    [configs[i] for i in part],
                    [places[i] for i in part],
                    progress,
                )
                runs.update(zip(part, made.train(), strict=True))
            if any(runs[i].interrupted for i in part):
                return [runs[i] for i in sorted(runs)]
    return [runs[i] for i in sorted(runs)]


def _begun(place: Place) -> bool:
    folder = None if place is None else Path(place)
    return folder is not None and folder.is_dir() and any(folder.glob("*.safetensors"))


def _shape(model: Any, config: TrainConfig) -> Any:
    """Equal for models that can be trained together."""
    settings = [
        (path, name, value)
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, bool | int | float | str)
        and name not in ("training", "dropout", "conv_dropout")
    ]
    weights = [(name, value.shape, value.dtype) for name, value in model.named_parameters()]
    limits = config.epochs, config.patience, config.select, config.checkpoint_every
    return type(model), tuple(settings), tuple(weights), limits


def _size(model: Any, problem: Problem) -> int:
    return len(problem.y) * int(model.hidden_channels)


class _Batch:
    """Runs of one shape under way."""

    def __init__(
        self,
        models: list[Any],
        problems: list[Problem],
        configs: list[TrainConfig],
        places: list[Place],
        progress: Progress | None,
    ) -> None:
        self.models, self.problems, self.configs = models, problems, configs
        self.places, self.progress = places, progress
        self.generators = [
            torch.Generator().manual_seed(seed_of(config.seed, 1)) for config in configs
        ]
        self.histories: list[list[Epoch]] = [[] for _ in models]
        self.runs: dict[int, Run] = {}
        self.going = list(range(len(models)))

    def train(self) -> list[Run]:
        with ExitStack() as stack:
            self.stores = [
                None
                if place is None
                else stack.enter_context(
                    SingleRunFolder(Path(place), identify(model, problem, config))
                )
                for place, model, problem, config in zip(
                    self.places, self.models, self.problems, self.configs, strict=True
                )
            ]
            self.started = time.perf_counter()
            first = self.configs[0]
            self.engine = make_engine(self.models, self.problems, self.configs, self.generators)
            self.selection = Selection(first.select, first.patience, (len(self.models),))
            asked = stack.enter_context(interruptible())
            while self.going:
                self._step()
                stopped = asked()
                if stopped or self.selection.epoch % first.checkpoint_every == 0:
                    self._save()
                over = self.selection.stopped | (self.selection.epoch >= first.epochs)
                if stopped:
                    self._finish(torch.ones_like(over), interrupted=~over)
                elif bool(over.any()):
                    self._finish(over, interrupted=torch.zeros_like(over))
        return [self.runs[run] for run in range(len(self.models))]

    def _step(self) -> None:
        numbers = torch.stack([self.engine.descend(), *self.engine.validate()])
        epoch = self.selection.epoch + 1
        for place, row in enumerate(numbers.t().tolist()):
            run = self.going[place]
            record = Epoch(epoch, *row)
            if not (math.isfinite(record.train_loss) and math.isfinite(record.val_loss)):
                check_finite(record, self.configs[run], self.stores[run])
            self.histories[run].append(record)
        if self.progress is not None:
            self.progress(self.histories[self.going[0]][-1])
        better = self.selection.update(numbers[1], numbers[3])
        if bool(better.any()):
            self.engine.remember(better)

    def _save(self) -> None:
        seconds = (time.perf_counter() - self.started) / len(self.models)
        for place, run in enumerate(self.going):
            store = self.stores[run]
            if store is not None:
                chosen = self.selection.state()
                alone = {k: v if k == "epoch" else v[place] for k, v in chosen.items()}
                random = self.generators[run].get_state()
                history = self.histories[run]
                tensors = pack(self.engine.state(place), alone, history, random)
                store.save(Checkpoint(tensors, seconds), history)

    def _finish(self, over: torch.Tensor, interrupted: torch.Tensor) -> None:
        """Let runs leave the batch."""
        seconds = (time.perf_counter() - self.started) / len(self.models)
        for place in over.nonzero()[:, 0].tolist():
            run = self.going[place]
            weights = self.engine.weights(place)
            self.runs[run] = Run(
                test_accuracy=test(self.models[run], weights, self.problems[run]),
                val_accuracy=self.selection.val_accuracy[place].item(),
                val_loss=self.selection.val_loss[place].item(),
                best_epoch=int(self.selection.best_epoch[place]),
                epochs=self.selection.epoch,
                seconds=seconds,
                interrupted=bool(interrupted[place]),
                config=self.configs[run],
                versions=versions(),
                history=tuple(self.histories[run]),
            )
            store = self.stores[run]
            if store is not None and not interrupted[place]:
                store.finish(self.runs[run], weights)
            if self.progress is not None:
                self.progress.next_run()
        rest = (~over).nonzero()[:, 0]
        self.going = [self.going[place] for place in rest.tolist()]
        if self.going:
            self.engine.keep(rest)
            self.selection.keep(rest)
