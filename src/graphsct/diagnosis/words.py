"""A diagnosis in sentences, the same on a terminal and on a page."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphsct.diagnosis.advice import title
from graphsct.training.metrics import METRICS
from graphsct.training.selection import Criterion
from graphsct.training.significance import interval

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis
    from graphsct.training.run import Run

__all__ = ["MEANINGS", "BestRemedy", "answer", "best", "size", "trained", "tried", "verdict_lines"]

#: The meaning of a finding by its kind.
MEANINGS = {
    "one answer": "All nodes, or nearly all, get the same answer. A model that has learned to tell "
    "nodes apart gives different ones.",
    "guesses": "On validation nodes the model does no better than always answering the most "
    "frequent class, or the mean. So it has learned nothing that carries over to them.",
    "underfits": "The model does not even fit its training nodes, while a small network without "
    "edges does. So the features suffice, and the model fails to use them.",
    "worse than without edges": "A small network that sees only the features does better on "
    "validation nodes. So either the edges do not help here, or the model cannot use them.",
    "ignores the graph": "The output stays the same when all edges are taken away. A network "
    "without edges would do as well.",
    "ignores the features": "The output stays the same when the nodes exchange their features. "
    "It depends on the edges alone.",
    "over-squashed": "Most of the nodes that the model could use are far away, and they have next "
    "to no influence on its output. What depends on these nodes cannot be learned.",
    "dead": "Most dimensions are zero at every node, so neither features nor gradients pass "
    "through them. Too few others are left.",
    "exploding": "The entries are far larger than those of the input. Losses and gradients get out "
    "of hand, and small differences are lost to rounding.",
    "faded": "The features are so small that the next layer sees little but its own bias.",
    "over-smoothed": "The nodes of a component look alike: little of the norm tells them apart. "
    "This share, the contrast, leaves out what all nodes have in common, such as a bias. The "
    "smoothness s includes it, so a layer with s near 1 may be in order.",
    "collapsed": "Nodes still differ, but in too few directions to tell the classes apart. The "
    "dimensions say much the same.",
    "vanishing gradient": "Almost no gradient arrives here, so these layers cannot learn. Their "
    "features may be in order all the same.",
    "frozen": "The weights of these layers cannot be trained, unlike the weights of other layers.",
}

_SOUND = "dead, exploding, faded, over-smoothed or collapsed, and the gradient gets through"


def answer(found: Diagnosis) -> str:
    """Return whether the model works; without a rival's scores, only whether it fails."""
    if found.works is False:
        return "The model does not work"
    compared = found.standing is not None and found.standing.without_edges is not None
    return "The model works" if compared else "The model does better than guessing"


def verdict_lines(found: Diagnosis) -> list[str]:
    """Return whether the model works, its findings, and whether its layers have any."""
    standing, lines = found.standing, list[str]()
    if standing is not None:
        lines.append(f"{answer(found)}: {standing.text}")
    lines += [finding.text for finding in found.findings]
    if not found.inside:
        lines.append(f"no over-smoothing found: no layer is {_SOUND}")
    if found.cause is not None:
        lines.append(f"cause: {found.cause.name}. {found.cause.text}")
    return lines


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


@dataclass(frozen=True)
class BestRemedy:
    """The remedy with the best validation score of those that were tried.

    Args:
        name: its name
        title: its name in words
        text: its effect on the test score in a sentence
        line: the line of code that applies it
    """

    name: str
    title: str
    text: str
    line: str


def best(found: Diagnosis) -> BestRemedy | None:
    """Return the best remedy by validation score, and by validation loss if several have the best
    score; ``None`` if none was tried.
    """
    as_it_is, *others = found.effects or (None,)
    if as_it_is is None or not others:
        return None
    metric, show = as_it_is.metric, as_it_is.metric.show
    scores = [statistics.fmean(effect.val) for effect in others]
    top = max(scores) if metric.larger else min(scores)
    tied = [effect for effect, score in zip(others, scores, strict=True) if score == top]
    effect = min(tied, key=lambda one: statistics.fmean(run.val_loss for run in one.runs))
    text = f"Test {metric.title} {show(effect.test)}, {show(as_it_is.test)} without it"
    if (between := interval(effect.differences)) is not None:
        low, high = (show([end], sign="+") for end in between)
        text += f"; the 95 % interval of the difference is {low} to {high}"
    if equal := [title(one.name) for one in tied if one is not effect]:
        names = " and ".join(equal)
        text += f". {names} scored equally on validation nodes; the validation loss decides"
    line = next(advice.change for advice in found.advice if advice.name == effect.name)
    return BestRemedy(effect.name, title(effect.name), text, line)
