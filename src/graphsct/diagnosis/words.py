"""A diagnosis in sentences, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphsct.training.seeds import percent

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis
    from graphsct.training.run import Run

__all__ = ["EFFECTS", "MEANINGS", "effect_rows", "size", "trained", "tried"]

#: What a finding means, by its kind.
MEANINGS = {
    "dead": "These dimensions are zero at every node, so nothing gets through them, forwards or "
    "backwards.",
    "faded": "Features have shrunk until what follows sees its own bias and nothing of the graph.",
    "over-smoothed": "Nodes of a component look alike: what told them apart is worn away.",
    "collapsed": "Nodes still differ, but in too few directions to tell the classes apart.",
    "vanishing gradient": "Next to nothing of the loss arrives here, so these layers cannot learn.",
}

#: The columns of :func:`effect_rows`.
EFFECTS = ("remedy", "test accuracy, %", "validation, %", "difference, paired")


def size(found: Diagnosis) -> str:
    """The graph and the model in a line."""
    graph = found.graph
    return (
        f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.components:,} connected "
        f"component{'s' * (graph.components > 1)}; {len(found.layers)} layers"
    )


def trained(run: Run) -> str:
    """How a model was trained, in a line."""
    return (
        f"trained for {run.epochs} epochs, seed {run.config.seed}: test accuracy "
        f"{run.test_accuracy:.1%}, validation {run.val_accuracy:.1%} at epoch {run.best_epoch}"
    )


def tried(found: Diagnosis) -> str:
    """How remedies were compared, in a line."""
    runs = found.effects[0].runs
    rule = runs[0].config.select.replace("val_", "validation ")
    return (
        f"Tried, {len(runs)} seed{'s' * (len(runs) > 1)}, {runs[0].epochs} epochs, the epoch "
        f"chosen by {rule}:"
    )


def effect_rows(found: Diagnosis) -> Iterator[tuple[str, ...]]:
    """What remedies came to, the model as it is first."""
    for effect in found.effects:
        difference = percent(effect.differences, sign="+")
        shown = "" if effect is found.effects[0] else difference
        yield effect.name, percent(effect.test), percent(effect.val), shown
