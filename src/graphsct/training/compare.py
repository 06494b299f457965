"""A model with its control and, on request, without it, in one run folder."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphsct.errors import TrainingError
from graphsct.files import write_json
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.data import count_splits
from graphsct.training.device import Device
from graphsct.training.disk import saving
from graphsct.training.folder import RESULTS, WITHOUT, open_folder
from graphsct.training.interrupt import interruptible
from graphsct.training.metrics import deviation
from graphsct.training.run import Run, versions
from graphsct.training.seeds import MakeCallback, Results, seed_jobs, train_seeds, with_callbacks

__all__ = ["Comparison", "bar_title", "compare_control", "folder_settings", "variants"]


@dataclass(frozen=True)
class Comparison:
    """The runs of a model and, on request, of the same model without control.

    Args:
        data: name of the data
        num_splits: number of splits of the data; seed ``i`` uses split ``i`` modulo their number
        results: runs of the model
        without: runs of the model without control, if requested
        interrupted: whether Ctrl-C ended the training
    """

    data: str
    num_splits: int
    results: Results
    without: Results | None = None
    interrupted: bool = field(default=False, kw_only=True)

    @property
    def parts(self) -> list[Results]:
        """The runs with control, then those without if there are any."""
        return [part for part in (self.results, self.without) if part is not None]

    @property
    def pairs(self) -> list[tuple[Run, Run]]:
        """The runs with and without control of each seed that is finished on both sides."""
        others = self.without.finished if self.without is not None else ()
        plain = {run.config.seed: run for run in others}
        return [
            (run, plain[run.config.seed])
            for run in self.results.finished
            if run.config.seed in plain
        ]

    @property
    def differences(self) -> list[float]:
        """Test score with control minus that without, pair by pair."""
        return [run.test_score - plain.test_score for run, plain in self.pairs]

    def to_dict(self, *, history: bool = False) -> dict[str, Any]:
        """Plain values; with ``history`` also a list of epochs for each seed."""

        def part(results: Results) -> dict[str, Any]:
            values = results.to_dict()
            if history:
                values["history"] = [[e._asdict() for e in run.history] for run in results.runs]
            return values

        own = versions(self.results.runs[0].versions.get("device"))
        values = {"data": self.data, **part(self.results), "versions": own}
        if self.without is not None:
            values["without_control"] = part(self.without)
        if self.differences:
            values["difference_mean"] = statistics.fmean(self.differences)
            values["difference_std"] = deviation(self.differences)
            values["difference_seeds"] = [run.config.seed for run, _ in self.pairs]
        return values


def variants(model: ModelConfig, folder: Path, compare: bool) -> list[tuple[ModelConfig, Path]]:
    """The model, and with ``compare`` the same without control, each with its folder of runs."""
    if not compare:
        return [(model, folder)]
    if model.control is None:
        raise TrainingError(
            "there is no control to compare with; use control='pooled' or control='gated'"
        )
    return [(model, folder), (replace(model, control=None), folder / WITHOUT)]


def folder_settings(
    source: Mapping[str, Any], model: ModelConfig, config: TrainConfig, seeds: Sequence[int]
) -> dict[str, Any]:
    """What a folder of runs stores of its settings; the source says how to load the data."""
    return {
        "data": dict(source),
        "model": model.to_dict(),
        "train": config.shared(),
        "seeds": len(seeds),
        "versions": versions(),
    }


def bar_title(model: ModelConfig) -> str:
    """The text before the progress of the runs of a model."""
    return f"{model.model}{model.depth or ''} {model.control or 'plain'}, seed"


def compare_control(
    model: ModelConfig,
    data: Any,
    config: TrainConfig,
    seeds: Iterable[int],
    *,
    folder: Path,
    source: Mapping[str, Any] | None = None,
    compare: bool = True,
    resume: bool = False,
    force: bool = False,
    tensorboard: bool = False,
    callback: MakeCallback | None = None,
    device: Device | None = None,
) -> Comparison:
    """Train a model for each seed, and with ``compare`` the same without its control.

    After Ctrl-C the results are those so far; before the first epoch it raises
    :class:`KeyboardInterrupt`.

    Args:
        model: settings of the model
        data: as for :func:`~graphsct.fit`
        config: settings of training; their seed is not used
        seeds: one per run
        folder: for the settings, the results and the runs
        source: how to load the data, stored with the settings; defaults to their name
        compare: also train without control
        resume: continue the runs in an existing folder
        force: delete the runs in an existing folder
        tensorboard: write event files
        callback: makes a callback for each run
        device: as for :func:`~graphsct.fit`
    """
    models = variants(model, folder, compare)
    seeds = list(seeds)
    name = str(getattr(data, "name", None) or "data")
    # Errors in the data or the model come before the folder is touched.
    planned = [seed_jobs(own, data, config, seeds, device) for own, _ in models]
    if callback is not None:
        planned = [
            with_callbacks(jobs, place, callback)
            for jobs, (_, place) in zip(planned, models, strict=True)
        ]
    settings = folder_settings(source or {"name": name}, model, config, seeds)
    results: list[Results] = []
    with open_folder(folder, settings, resume=resume, force=force), interruptible() as asked:
        for (own, place), jobs in zip(models, planned, strict=True):
            if asked():
                break
            runs = train_seeds(jobs, folder=place, tensorboard=tensorboard, title=bar_title(own))
            if runs:
                results.append(Results.of(own, data, config, runs))
        if not results:
            raise KeyboardInterrupt
        missing = len(models) * len(seeds) - sum(len(part.finished) for part in results)
        found = Comparison(name, count_splits(data), *results, interrupted=missing > 0)
        with saving(folder):
            write_json(folder / RESULTS, found.to_dict())
    return found
