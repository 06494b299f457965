"""Verdicts: the problems of layers, with their evidence.

A single number misleads. Adding a constant to features raises their normalized smoothness and
changes nothing for a classifier; a trained network may be healthy with few directions left; a
network with an initial residual needs no gradient in its first layers. So every verdict needs two
conditions at once.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphsct.diagnosis.measure import LayerReport
from graphsct.records import Record

__all__ = ["KINDS", "Finding", "Thresholds", "judge", "span", "state_of"]

#: The kinds of findings, the gravest first.
KINDS = ("dead", "faded", "over-smoothed", "collapsed", "vanishing gradient")


@dataclass(frozen=True)
class Thresholds(Record):
    r"""The limits of the verdicts.

    Chosen on 34 models that were trained for 150 epochs on Cora and CiteSeer, GCN, GCNII, EGNN,
    GraphSAGE and GAT of 2 to 32 layers. The 18 that reach a test accuracy of 58 % and more are
    found healthy: in all their hidden layers the contrast is .4 and more, its rank 4 and more, and
    at most three quarters of the dimensions are dead. The 16 that reach 55 % or less are not.

    Args:
        dead: a layer is *dead* if this share of its dimensions is zero at every node
        faded: it is *faded* if its entries are smaller than this (root of their mean square): the
            next layer sees only its own bias, and a norm its own epsilon
        contrast: it is *over-smoothed* if at most this share of its norm tells the nodes of a
            component apart (normalized smoothness of the whole above .98, or the same behind a
            bias) ...
        contrast_rank: ... and that part has at most this share of the possible directions,
            :math:`(r - 1) / (d - 1)` of its effective rank r; a constant that was added to
            healthy features leaves many
        no_contrast: or the share is so small that training cannot use it in any direction
        collapsed: it is *collapsed* if its nodes differ in fewer directions than this, or than
            half of what the classes need, :math:`(C - 1) / 2`
        gradient: its *gradient vanishes* if it is smaller than this times that of the last layer,
            and no shortcut takes it to the input of the first layer
    """

    dead: float = 0.9
    faded: float = 1e-6
    contrast: float = 0.2
    contrast_rank: float = 0.1
    no_contrast: float = 0.01
    collapsed: float = 2.5
    gradient: float = 1e-4


@dataclass(frozen=True)
class Finding(Record, keys=("kind", "layers", "evidence", "text")):
    """A problem of some layers.

    Args:
        kind: one of ``KINDS``
        layers: numbers of the layers, from 1
        evidence: in words, with the numbers behind the verdict
    """

    kind: str
    layers: tuple[int, ...]
    evidence: str

    @property
    def text(self) -> str:
        """One line, such as ``layers 9-16: over-smoothed (median s 0.998, ...)``."""
        return f"{span(self.layers)}: {self.kind} ({self.evidence})"


def judge(
    layers: Sequence[LayerReport],
    entry_gradient: float,
    classes: int | None = None,
    thresholds: Thresholds | None = None,
) -> tuple[Finding, ...]:
    """The findings, the gravest first; none if the model is healthy.

    Each layer has at most one of the first four kinds, and perhaps a vanishing gradient.

    Args:
        layers: all layers of a model
        entry_gradient: norm of the gradient with respect to the input of the first layer
        classes: number of classes, if there are labels
        thresholds: limits of the verdicts
    """
    limits = thresholds or Thresholds()
    found: dict[str, list[int]] = {}
    for number, layer in enumerate(layers, 1):
        state = state_of(layer, classes, limits)
        if state is not None:
            found.setdefault(state, []).append(number)
    starved = _starved(layers, entry_gradient, limits)
    if starved:
        found["vanishing gradient"] = starved
    return tuple(
        Finding(kind, tuple(found[kind]), _EVIDENCE[kind](layers, found[kind]))
        for kind in KINDS
        if kind in found
    )


def state_of(
    layer: LayerReport, classes: int | None, limits: Thresholds | None = None
) -> str | None:
    """The gravest problem of one layer's features, ``None`` if there is none."""
    limits = limits or Thresholds()
    width = layer.channels
    if len(layer.dead) >= limits.dead * width:
        return "dead"
    if layer.size < limits.faded:
        return "faded"
    few = layer.contrast_rank - 1 <= limits.contrast_rank * (width - 1)
    if layer.contrast <= limits.no_contrast or (layer.contrast <= limits.contrast and few):
        return "over-smoothed"
    needed = limits.collapsed if classes is None else min(limits.collapsed, (classes - 1) / 2)
    return "collapsed" if layer.contrast_rank < needed and width > 1 else None


def _starved(layers: Sequence[LayerReport], entry: float, limits: Thresholds) -> list[int]:
    """The layers that get no gradient."""
    last = layers[-1].gradient_norm
    enough = limits.gradient * last
    if last == 0 or entry >= enough:
        return []
    return [number for number, layer in enumerate(layers, 1) if layer.gradient_norm < enough]


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


def _pick(layers: Sequence[LayerReport], numbers: list[int]) -> list[LayerReport]:
    return [layers[number - 1] for number in numbers]


def _middle(values: list[float]) -> float:
    return statistics.median(values)


def _dead(layers: Sequence[LayerReport], numbers: list[int]) -> str:
    chosen = _pick(layers, numbers)
    dead = _middle([len(layer.dead) for layer in chosen])
    width = _middle([layer.channels for layer in chosen])
    share = "all" if dead == width else f"{dead:.0f} of"
    return f"{share} {width:.0f} dimensions are zero at every node; there s = 1 by definition only"


def _faded(layers: Sequence[LayerReport], numbers: list[int]) -> str:
    sizes = [layer.size for layer in _pick(layers, numbers)]
    return f"entries of {min(sizes):.0e} to {max(sizes):.0e}: the next layer sees only its own bias"


def _smooth(layers: Sequence[LayerReport], numbers: list[int]) -> str:
    chosen = _pick(layers, numbers)
    s = _middle([layer.quartiles[1] for layer in chosen if layer.quartiles])
    rank = _middle([layer.effective_rank for layer in chosen])
    width = _middle([layer.channels for layer in chosen])
    contrast = _middle([layer.contrast for layer in chosen])
    return (
        f"median s {s:.3f}, effective rank {rank:.1f} of {width:.0f}, {contrast:.1e} of the norm "
        "tells nodes apart"
    )


def _collapsed(layers: Sequence[LayerReport], numbers: list[int]) -> str:
    chosen = _pick(layers, numbers)
    rank = _middle([layer.contrast_rank for layer in chosen])
    width = _middle([layer.channels for layer in chosen])
    dead = _middle([len(layer.dead) for layer in chosen])
    s = _middle([layer.quartiles[1] for layer in chosen if layer.quartiles])
    died = f", {dead:.0f} dimensions are dead" if dead else ""
    return f"nodes differ in {rank:.1f} of {width:.0f} directions{died}; median s {s:.3f}"


def _vanishing(layers: Sequence[LayerReport], numbers: list[int]) -> str:
    last = layers[-1].gradient_norm
    least = min(layer.gradient_norm for layer in _pick(layers, numbers))
    if least == 0:
        return f"down to exactly zero, {last:.1e} at the last layer"
    return f"down to {least:.1e}, {last:.1e} at the last layer"


_EVIDENCE: dict[str, Callable[[Sequence[LayerReport], list[int]], str]] = {
    "dead": _dead,
    "faded": _faded,
    "over-smoothed": _smooth,
    "collapsed": _collapsed,
    "vanishing gradient": _vanishing,
}
