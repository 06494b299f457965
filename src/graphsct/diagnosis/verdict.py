"""Verdicts: what is wrong with a model and in which layers, with the evidence.

A single number misleads. Adding a constant to features raises their normalized smoothness and
changes nothing for a classifier; a network with an initial residual needs no gradient in its first
layers; a layer of width 1 always has rank 1. So every finding needs two conditions at once.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphsct.diagnosis.influence import Influence
from graphsct.diagnosis.measure import InputReport, LayerReport
from graphsct.diagnosis.standing import Standing
from graphsct.records import Record
from graphsct.training.metrics import METRICS

__all__ = ["FAILURES", "KINDS", "Evidence", "Finding", "Thresholds", "judge", "span"]


@dataclass(frozen=True)
class Thresholds(Record):
    r"""The limits of the verdicts, chosen on half of the models of the bench in ``benchmarks/
    verdicts.py``; the other half gives the error rates.

    Args:
        one_answer: a model *gives one answer* if this share of the nodes gets the same class,
            although not as many have it, or if its numbers vary less than 1 minus this share of
            what the targets do
        underfit: it *underfits* if its skill on the training nodes, from 0 for guessing to 1 for
            no error, is below this share of the skill of a network without edges, and it is not
            better than that network on validation nodes ...
        little: ... or if it is below this
        below: it is *worse than without edges* if its skill on the validation nodes is below this
            share of the skill of a network without edges, and the difference is more than chance
        same: it *ignores* the graph, or the features, if this share of the variance of its output
            stays without the edges, or with the features of other nodes
        dead: a layer is *dead* if this share of its dimensions is zero at every node ...
        alive: ... and at most this many others are left
        exploding: it *explodes* if its entries are larger than this (root of their mean square),
            and this many times as large as those of the input
        faded: it is *faded* if its entries are smaller than this, and than this share of the input
        contrast: it is *over-smoothed* if at most this share of its norm tells the nodes of a
            component apart, compared to random features ...
        lost: ... and at most this share of the differences of an earlier layer is left ...
        contrast_rank: ... or if half of these is lost, and they have at most this share of the
            possible directions, :math:`(r - 1) / (d - 1)` of their effective rank r; a constant
            that was added to healthy features changes none of this
        collapsed: it is *collapsed* if its nodes differ in fewer directions than this, and in
            fewer than half of what the task needs ...
        correlated: ... and its dimensions have at least this mean absolute correlation
        gradient: its *gradient vanishes* if it is smaller than this times the gradient of the last
            layer, and no shortcut takes it to the input of the first layer
        far: a model is *over-squashed* if the nodes beyond half of its reach have at most this
            share of the influence ...
        crowd: ... and are at least this share of the nodes in reach
    """

    one_answer: float = 0.99
    underfit: float = 0.7
    little: float = 0.25
    below: float = 0.8
    same: float = 0.99
    dead: float = 0.8
    alive: int = 16
    exploding: float = 1e3
    faded: float = 1e-6
    contrast: float = 0.2
    lost: float = 0.1
    contrast_rank: float = 0.1
    collapsed: float = 2.5
    correlated: float = 0.5
    gradient: float = 1e-4
    far: float = 0.05
    crowd: float = 0.5


@dataclass(frozen=True)
class Finding(Record, keys=("kind", "layers", "evidence", "text")):
    """A problem of a model or of some of its layers.

    Args:
        kind: one of ``KINDS``
        layers: numbers of the layers, from 1; none if it is a problem of the whole model
        evidence: in words, with the numbers behind the finding
    """

    kind: str
    layers: tuple[int, ...]
    evidence: str

    @property
    def text(self) -> str:
        """One line, such as ``layers 9-16: over-smoothed (contrast 0.02, ...)``."""
        where = f"{span(self.layers)}: " if self.layers else ""
        return f"{where}{self.kind} ({self.evidence})"


@dataclass(frozen=True)
class Evidence:
    """Everything that the findings are judged by.

    Args:
        layers: all layers of a model
        entry: the input of the first layer
        nodes: number of nodes
        room: share of the directions in which the nodes of a component can differ
        directions: number of directions that the task needs, ``None`` if it is unknown
        standing: how well the model does its task, ``None`` if that is unknown
        influence: of nodes by their distance, ``None`` if it was not measured
    """

    layers: Sequence[LayerReport]
    entry: InputReport
    nodes: int
    room: float
    directions: int | None = None
    standing: Standing | None = None
    influence: Influence | None = None

    def hidden(self) -> Iterator[tuple[int, LayerReport]]:
        """The layers whose features are not the answers of the model, with their numbers."""
        last = len(self.layers)
        for number, layer in enumerate(self.layers, 1):
            if not (number == last and layer.where == "output" and self.directions is not None):
                yield number, layer

    @property
    def joined(self) -> bool:
        """Whether enough nodes have neighbours for their differences to be measured."""
        return self.room * self.nodes >= 10

    def contrast(self, layer: LayerReport) -> float:
        """The contrast of a layer compared to that of random features."""
        return layer.contrast / math.sqrt(self.room)


def judge(evidence: Evidence, thresholds: Thresholds | None = None) -> tuple[Finding, ...]:
    """The findings: first those of the whole model, then those of its layers, the gravest first.

    Args:
        evidence: the measures
        thresholds: limits of the verdicts
    """
    limits = thresholds or Thresholds()
    findings = []
    for kind, rule in _WHOLE.items():
        words = rule(evidence, limits)
        if words is not None:
            findings.append(Finding(kind, (), words))
    for kind, (find, show) in _LAYERS.items():
        numbers = find(evidence, limits)
        if numbers:
            chosen = [evidence.layers[number - 1] for number in numbers]
            findings.append(Finding(kind, tuple(numbers), show(evidence, chosen)))
    return tuple(findings)


def span(numbers: Sequence[int]) -> str:
    """Layers by their numbers, neighbours joined.

    Example:
        >>> span([3]), span([1, 2, 3, 7, 9, 10])
        ('layer 3', 'layers 1-3, 7, 9-10')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"layer{'s' * (len(numbers) > 1)} {', '.join(shown)}"


# The whole model: each rule returns its evidence in words, or None.


def _one_answer(evidence: Evidence, limits: Thresholds) -> str | None:
    own = evidence.standing
    if own is None:
        return None
    if own.spread is not None:
        few = own.spread <= 1 - limits.one_answer
        return f"its numbers vary {100 * own.spread:.1f} % as much as the targets" if few else None
    if own.frequent is None or own.frequent < limits.one_answer:
        return None
    if METRICS[own.metric].ranks and own.skill(own.model) >= 0.5:
        return None  # the order of the nodes is what counts
    truth = own.frequent_truth
    if truth is not None and truth >= 0.5 * (1 + limits.one_answer):
        return None
    beside = "" if truth is None else f"; {100 * truth:.1f} % have the most frequent class"
    return f"{100 * own.frequent:.1f} % of the {own.noun}s get the same answer{beside}"


def _guesses(evidence: Evidence, limits: Thresholds) -> str | None:
    own = evidence.standing
    if own is None:
        return None
    if abs(own.model.val - own.guess.val) > own.margin and own.skill(own.model) > 0:
        return None
    show = METRICS[own.metric].with_unit
    return (
        f"validation {show(own.model.val)}, {show(own.guess.val)} by the same answer for every "
        f"{own.noun}; with {own.nodes:,} {own.noun}s, a gap of {show(own.margin)} may be chance"
    )


def _underfits(evidence: Evidence, limits: Thresholds) -> str | None:
    own = evidence.standing
    if own is None or own.without_edges is None:
        return None
    skill, reached = (own.skill(scores, "train") for scores in (own.model, own.without_edges))
    better = own.skill(own.model) > own.skill(own.without_edges)
    if skill >= limits.little and (better or skill >= limits.underfit * reached):
        return None
    show = METRICS[own.metric].with_unit
    beside = f"{show(own.without_edges.train)} by a network without edges"
    return f"training {show(own.model.train)}, {beside}"


def _below(evidence: Evidence, limits: Thresholds) -> str | None:
    own = evidence.standing
    if own is None or own.without_edges is None:
        return None
    if own.skill(own.model) >= limits.below * own.skill(own.without_edges):
        return None
    if abs(own.model.val - own.without_edges.val) <= own.margin:
        return None
    show = METRICS[own.metric].with_unit
    return (
        f"validation {show(own.model.val)}, {show(own.without_edges.val)} by a network "
        "without edges"
    )


def _ignores(what: str, when: str) -> Callable[[Evidence, Thresholds], str | None]:
    """The rule for an output that stays the same without something."""

    def rule(evidence: Evidence, limits: Thresholds) -> str | None:
        share = getattr(evidence.standing, what, None)
        if share is None or share < limits.same:
            return None
        return f"{100 * share:.1f} % of the variance of its output stays when {when}"

    return rule


def _squashed(evidence: Evidence, limits: Thresholds) -> str | None:
    seen = evidence.influence
    if seen is None or seen.far is None:
        return None
    if seen.far.influence > limits.far or seen.far.nodes < limits.crowd:
        return None
    return (
        f"the {100 * seen.far.nodes:.0f} % of the nodes in reach that are more than "
        f"{seen.far.hops} edges away have {100 * seen.far.influence:.1f} % of the influence"
    )


_WHOLE: dict[str, Callable[[Evidence, Thresholds], str | None]] = {
    "one answer": _one_answer,
    "guesses": _guesses,
    "underfits": _underfits,
    "worse than without edges": _below,
    "ignores the graph": _ignores("same_without_edges", "all edges are taken away"),
    "ignores the features": _ignores("same_with_other_features", "nodes exchange features"),
    "over-squashed": _squashed,
}


# The layers: each rule returns their numbers.


def _dead(evidence: Evidence, limits: Thresholds) -> list[int]:
    return [
        number
        for number, layer in enumerate(evidence.layers, 1)
        if len(layer.dead) >= limits.dead * layer.channels
        and layer.channels - len(layer.dead) <= limits.alive
    ]


def _exploding(evidence: Evidence, limits: Thresholds) -> list[int]:
    least = limits.exploding * max(1.0, evidence.entry.size)
    return [number for number, layer in enumerate(evidence.layers, 1) if layer.size > least]


def _faded(evidence: Evidence, limits: Thresholds) -> list[int]:
    most = limits.faded * min(1.0, evidence.entry.size)
    gone = set(_dead(evidence, limits))
    return [
        number
        for number, layer in enumerate(evidence.layers, 1)
        if number not in gone and layer.size < most
    ]


def _smooth(evidence: Evidence, limits: Thresholds) -> list[int]:
    if not evidence.joined:
        return []
    found, sick = [], {*_dead(evidence, limits), *_faded(evidence, limits)}
    most = evidence.entry.contrast * evidence.entry.size
    for number, layer in evidence.hidden():
        left = layer.contrast * layer.size
        few = layer.channels > 1 and (
            layer.contrast_rank - 1 <= limits.contrast_rank * (layer.channels - 1)
        )
        low = evidence.contrast(layer) <= limits.contrast
        worn = left <= limits.lost * most or (few and left <= most / 2)
        if number not in sick and low and worn:
            found.append(number)
        most = max(most, left)
    return found


def _collapsed(evidence: Evidence, limits: Thresholds) -> list[int]:
    if not evidence.joined:
        return []
    needed = limits.collapsed
    if evidence.directions is not None:
        needed = min(needed, evidence.directions / 2)
    sick = {n for rule in (_dead, _faded, _smooth) for n in rule(evidence, limits)}
    return [
        number
        for number, layer in evidence.hidden()
        if number not in sick
        and layer.channels > 1
        and layer.contrast_rank < needed
        and layer.correlation >= limits.correlated
    ]


def _starved(evidence: Evidence, limits: Thresholds) -> list[int]:
    last = evidence.layers[-1].gradient_norm
    enough = limits.gradient * last
    if last == 0 or evidence.entry.gradient_norm >= enough:
        return []
    return [
        number for number, layer in enumerate(evidence.layers, 1) if layer.gradient_norm < enough
    ]


def _frozen(evidence: Evidence, limits: Thresholds) -> list[int]:
    numbers = [number for number, layer in enumerate(evidence.layers, 1) if layer.frozen]
    return numbers if len(numbers) < len(evidence.layers) else []


def _middle(values: list[float]) -> float:
    return statistics.median(values)


def _show_dead(evidence: Evidence, chosen: list[LayerReport]) -> str:
    dead = _middle([len(layer.dead) for layer in chosen])
    width = _middle([layer.channels for layer in chosen])
    share = "all" if dead == width else f"{dead:.0f} of"
    return f"{share} {width:.0f} dimensions are zero at every node; there s = 1 by definition only"


def _show_size(evidence: Evidence, chosen: list[LayerReport]) -> str:
    sizes = [layer.size for layer in chosen]
    return (
        f"entries of {min(sizes):.0e} to {max(sizes):.0e}, {evidence.entry.size:.0e} in the input"
    )


def _show_smooth(evidence: Evidence, chosen: list[LayerReport]) -> str:
    contrast = _middle([evidence.contrast(layer) for layer in chosen])
    most = evidence.entry.contrast * evidence.entry.size
    left = _middle([layer.contrast * layer.size for layer in chosen])
    return (
        f"{_percent(contrast)} of the norm tells nodes apart, {_directions(chosen)}; their "
        f"differences are {_percent(left / (most or 1))} of those of the input"
    )


def _directions(chosen: list[LayerReport]) -> str:
    rank = _middle([layer.contrast_rank for layer in chosen])
    width = _middle([layer.channels for layer in chosen])
    return f"in {rank:.1f} of {width:.0f} directions"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _show_collapsed(evidence: Evidence, chosen: list[LayerReport]) -> str:
    correlation = _middle([layer.correlation for layer in chosen])
    return f"nodes differ {_directions(chosen)}; mean correlation of dimensions {correlation:.2f}"


def _show_gradient(evidence: Evidence, chosen: list[LayerReport]) -> str:
    last = evidence.layers[-1].gradient_norm
    least = min(layer.gradient_norm for layer in chosen)
    low = "exactly zero" if least == 0 else f"{least:.1e}"
    return f"down to {low}, {last:.1e} at the last layer"


def _show_frozen(evidence: Evidence, chosen: list[LayerReport]) -> str:
    return "requires_grad is False for all of their weights"


_LAYERS: dict[
    str,
    tuple[
        Callable[[Evidence, Thresholds], list[int]],
        Callable[[Evidence, list[LayerReport]], str],
    ],
] = {
    "dead": (_dead, _show_dead),
    "exploding": (_exploding, _show_size),
    "faded": (_faded, _show_size),
    "over-smoothed": (_smooth, _show_smooth),
    "collapsed": (_collapsed, _show_collapsed),
    "vanishing gradient": (_starved, _show_gradient),
    "frozen": (_frozen, _show_frozen),
}

#: The kinds of findings: those of the whole model, then those of layers, the gravest first.
KINDS = (*_WHOLE, *_LAYERS)

#: The kinds that mean that a model does not do its task.
FAILURES = ("one answer", "guesses", "underfits", "worse than without edges")
