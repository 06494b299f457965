"""A diagnosis in sentences, the same on a terminal and on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsct.training.metrics import METRICS
from graphsct.training.selection import Criterion

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis
    from graphsct.training.run import Run

__all__ = ["MEANINGS", "size", "trained", "tried"]

#: The meaning of a finding by its kind.
MEANINGS = {
    "dead": "These dimensions are zero at every node, so neither features nor gradients pass "
    "through them.",
    "faded": "The features are so small that the next layer sees little but its own bias.",
    "over-smoothed": "The nodes of a component look alike: their differences are worn away.",
    "collapsed": "Nodes still differ, but in too few directions to tell the classes apart.",
    "vanishing gradient": "Almost no gradient arrives here, so these layers cannot learn.",
}


def size(found: Diagnosis) -> str:
    """Return a line about the graph and the model."""
    graph = found.graph
    return (
        f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.components:,} connected "
        f"component{'s' * (graph.components > 1)}; {len(found.layers)} layers"
    )


def trained(run: Run) -> str:
    """Return a line about the training of a model."""
    metric = METRICS[run.metric]
    return (
        f"trained for {run.epochs} epochs, seed {run.config.seed}: test {metric.title} "
        f"{metric.with_unit(run.test_score)}, validation {metric.with_unit(run.val_score)} at "
        f"epoch {run.best_epoch}"
    )


def tried(found: Diagnosis) -> str:
    """Return a line about the comparison of remedies."""
    runs = found.effects[0].runs
    rule = Criterion(runs[0].config.select, found.effects[0].metric).title
    return (
        f"Remedies tried with {len(runs)} seed{'s' * (len(runs) > 1)}, {runs[0].epochs} epochs, "
        f"the epoch selected by {rule}:"
    )
