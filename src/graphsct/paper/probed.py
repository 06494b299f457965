"""The records of a probe: the effect of a trained model's terms, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from graphsct.records import Record

__all__ = [
    "INSTEAD",
    "NETWORKS",
    "Accuracies",
    "Changed",
    "FeatureMeasures",
    "LayerTerm",
    "Probed",
]


class Changed(NamedTuple):
    """Shares of the test nodes that another term, or another model, puts into another class.

    Args:
        removed: without the term
        frozen: with its mean over passes with dropout
        plain: with its mean over all nodes, a plain bias
        shuffled: with its dimensions shuffled
        base: by a model that was trained without the term
    """

    removed: float
    frozen: float
    plain: float
    shuffled: float
    base: float


class Accuracies(NamedTuple):
    """Accuracies on the test nodes, with the term and as in :class:`Changed`."""

    with_term: float
    removed: float
    frozen: float
    plain: float
    shuffled: float
    base: float


class FeatureMeasures(NamedTuple):
    """Part of a :class:`~graphsct.smoothness.summary.Summary` of the features of a layer."""

    dead: int
    smoothness: float | None
    effective_rank: float
    distance: float


@dataclass(frozen=True)
class LayerTerm(Record, strict=True):
    """The term of one layer, and the features of all networks; undefined values are ``None``.

    Args:
        layer: number of the layer, from 1
        size: norm of the term over that of the features it is added to
        dimensions: how many dimensions use the term
        weights: root mean square of its weights, which started at zero
        arrives: norm of its effect in the next layer over its own norm
        cosine: cosine of that effect with the next layer's term
        with_term: features of the model
        removed: features of the model with the term removed
        base: features of the model that was trained without the term
    """

    layer: int
    size: float | None
    dimensions: float | None
    weights: float
    arrives: float | None
    cosine: float | None
    with_term: FeatureMeasures
    removed: FeatureMeasures
    base: FeatureMeasures


@dataclass(frozen=True)
class Probed(Record, strict=True):
    """The effect of the terms of a model.

    Args:
        accuracy: accuracies with the terms, and with each replacement
        changed: shares of the test nodes whose class a replacement changes
        layers: the term of each layer
    """

    accuracy: Accuracies
    changed: Changed
    layers: tuple[LayerTerm, ...]


#: The variants to compare with: replacements of the term, and a model trained without it.
INSTEAD = Changed._fields

#: The networks to measure: with the term, with the term removed, and trained without it.
NETWORKS = ("with_term", "removed", "base")
