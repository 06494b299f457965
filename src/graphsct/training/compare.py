"""A model with its control and, on request, without it, in one run folder."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphsct.errors import TrainingError
from graphsct.files import write_json
from graphsct.training.checkpoint import saving
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.data import count_splits
from graphsct.training.device import Device
from graphsct.training.folder import RESULTS, open_folder
from graphsct.training.interrupt import interruptible
from graphsct.training.metrics import deviation
from graphsct.training.run import versions
from graphsct.training.seeds import MakeCallback, Results, seed_jobs, train_seeds, with_callbacks

__all__ = ["WITHOUT", "Comparison", "check_compare", "compare_control"]

#: Folder of the runs without control, inside that of the runs with control.
WITHOUT = "without-control"


@dataclass(frozen=True)
class Comparison:
    """The runs of a model and, on request, of the same model without control.

    Args:
        data: name of the data
        num_splits: number of splits of the data; seed ``i`` uses split ``i`` modulo their number
        results: runs of the model
        without: runs of the model without control, if requested
    """

    data: str
    num_splits: int
    results: Results
    without: Results | None = None

    @property
    def parts(self) -> list[Results]:
        """The runs with control, then those without if there are any."""
        return [part for part in (self.results, self.without) if part is not None]

    @property
    def differences(self) -> list[float]:
        """Test score with control minus that without, seed by seed."""
        if self.without is None:
            return []
        # Ctrl-C may have left fewer runs without control.
        pairs = zip(self.results.finished, self.without.finished, strict=False)
        return [a.test_score - b.test_score for a, b in pairs]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the training."""
        return any(part.interrupted for part in self.parts)

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
        return values


def check_compare(model: ModelConfig, compare: bool) -> None:
    """Refuse to compare a model without control with itself."""
    if compare and model.control is None:
        raise TrainingError(
            "there is no control to compare with; use control='pooled' or control='gated'"
        )


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
    check_compare(model, compare)
    seeds = list(seeds)
    train = config.to_dict()
    del train["seed"]
    name = str(getattr(data, "name", None) or "data")
    settings = {"data": dict(source or {"name": name}), "model": model.to_dict(), "train": train}
    # Errors in the data or the model come before the folder is touched.
    variants = [(model, folder, seed_jobs(model, data, config, seeds, device))]
    if compare:
        plain = replace(model, control=None)
        variants.append((plain, folder / WITHOUT, seed_jobs(plain, data, config, seeds, device)))
    if callback is not None:
        variants = [
            (own, place, with_callbacks(jobs, place, callback)) for own, place, jobs in variants
        ]
    more = {"seeds": len(seeds), "versions": versions()}
    open_folder(folder, settings | more, resume=resume, force=force)
    results: list[Results] = []
    with interruptible() as asked:
        for own, place, jobs in variants:
            if asked():
                break
            runs = train_seeds(jobs, folder=place, tensorboard=tensorboard, title=_title(own))
            results.append(Results.of(own, data, config, runs))
        found = Comparison(name, count_splits(data), *results)
        with saving(folder):
            write_json(folder / RESULTS, found.to_dict())
    return found


def _title(model: ModelConfig) -> str:
    return f"{model.model}{model.depth or ''} {model.control or 'plain'}, seed"
