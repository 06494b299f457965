"""Training in sentences, the same on a terminal and on a page."""

from __future__ import annotations

from graphsct.training.compare import Comparison

__all__ = ["describe"]


def describe(found: Comparison) -> str:
    """Describe the training in a line or two."""
    model, runs = found.results.model, found.results.counted
    seeds = f"seeds 0 to {len(runs) - 1}" if len(runs) > 1 else f"seed {runs[0].config.seed}"
    splits = f", seed i on split i mod {found.num_splits}" if found.num_splits > 1 else ""
    size = f"{model.size}, " if model.size else ""
    return (
        f"{model.title}, {size}control {model.control or 'none'}; {seeds}{splits}; the epoch "
        f"chosen by {found.results.criterion.title}"
    )
