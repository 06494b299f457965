"""Training in sentences, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterable

from graphsct.training.compare import Comparison
from graphsct.training.run import Run

__all__ = ["describe", "name_seeds"]


def describe(found: Comparison) -> str:
    """Describe the training in a line or two."""
    model, runs = found.results.model, found.results.counted
    seeds = f"seed{'s' * (len(runs) > 1)} {name_seeds(runs)}"
    splits = f", seed i on split i mod {found.num_splits}" if found.num_splits > 1 else ""
    size = f"{model.size}, " if model.size else ""
    return (
        f"{model.title}, {size}control {model.control or 'none'}; {seeds}{splits}; the epoch "
        f"chosen by {found.results.criterion.title}"
    )


def name_seeds(runs: Iterable[Run]) -> str:
    """Name the seeds of runs: ``7``, ``0 to 3`` or ``0, 2 and 5``."""
    seeds = sorted(run.config.seed for run in runs)
    first, last = seeds[0], seeds[-1]
    if first == last:
        return str(first)
    if seeds == list(range(first, last + 1)):
        return f"{first} to {last}"
    return f"{', '.join(map(str, seeds[:-1]))} and {last}"
