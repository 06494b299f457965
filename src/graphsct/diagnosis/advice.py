"""Advice for findings: only remedies that can be applied to this model, with their evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from torch import nn

from graphsct.diagnosis.measure import LayerReport
from graphsct.diagnosis.verdict import Finding
from graphsct.nn import GCN, Model, SmoothnessControl
from graphsct.records import Record
from graphsct.remedies import REMEDIES

__all__ = ["Advice", "Patient", "advise", "applicable", "sound_depth", "title"]


@dataclass(frozen=True)
class Advice(Record):
    """A remedy to try.

    Args:
        name: its name in the catalogue of :mod:`graphsct.remedies`, or ``longer``
        change: line of code to change
        why: reason in a sentence
        evidence: its measured gain, and on which models
    """

    name: str
    change: str
    why: str
    evidence: str

    @property
    def title(self) -> str:
        """Its name in words."""
        return title(self.name)


@dataclass(frozen=True)
class Patient:
    """A model that advice is for.

    Args:
        model: the model
        layers: its layers
        findings: what is wrong with it
        num_components: number of components of its graph, ``None`` if it has many graphs
    """

    model: nn.Module
    layers: Sequence[LayerReport]
    findings: Sequence[Finding]
    num_components: int | None

    def parts(self) -> Iterator[tuple[str, nn.Module]]:
        """The layers by their names."""
        parts = dict(self.model.named_modules())
        for name in dict.fromkeys(layer.part for layer in self.layers):
            yield name, parts[name]


def title(name: str) -> str:
    """Return the name of a remedy in words.

    Example:
        >>> title("pair_norm"), title("longer")
        ('PairNorm', 'longer training')
    """
    return REMEDIES[name].title if name in REMEDIES else f"{name} training"


def advise(patient: Patient) -> tuple[Advice, ...]:
    """The remedies that fit a model, the largest measured gain first. Remedies that made models
    worse in the measurement are left out.
    """
    gains = {name: row["gain"] for name, row in _measured()["gains"].items()}
    helpful = [one for one in applicable(patient) if gains.get(one.name, 0.0) >= 0]
    return tuple(sorted(helpful, key=lambda one: -gains.get(one.name, 0.0)))


def applicable(patient: Patient) -> Iterator[Advice]:
    """All remedies that fit a model and its findings and are not in place yet."""
    kinds = {finding.kind for finding in patient.findings}
    for name, (fits, line) in _ADVICE.items():
        change = line(patient) if kinds & fits else None
        if change is not None:
            why = REMEDIES[name].claim if name in REMEDIES else _LONGER
            yield Advice(name, change, why, _evidence(name))


def sound_depth(findings: Sequence[Finding], num_layers: int) -> int:
    """A sound depth: the number of layers before the first one with a finding. If this is below 2
    or more than half of all, it is 4 or half of all, whichever is less.

    Example:
        >>> sound_depth([Finding("dead", (6, 7, 8), "...")], 32)
        5
    """
    firsts = [finding.layers[0] for finding in findings if finding.layers]
    sound = min(firsts, default=1) - 1
    return sound if 2 <= sound <= num_layers // 2 else max(1, min(4, num_layers // 2))


def _gcnii(patient: Patient) -> str | None:
    layers = len(patient.layers)
    line = f"graphsct.nn.GCNII(in_channels, hidden_channels, out_channels, num_layers={layers})"
    return line if isinstance(patient.model, GCN) else None


def _residual(patient: Patient) -> str | None:
    kinds = {layer.kind for layer in patient.layers}
    if isinstance(patient.model, Model) or len(patient.layers) < 3:
        return None
    in_place = kinds & {"GCN2Conv", "APPNP", "ResidualConv", "InitialConv"}
    return None if in_place else "x = conv(x, edge_index).relu() + x  # layers of equal width"


def _batch_norm(patient: Patient) -> str | None:
    if any("Norm" in type(part).__name__ for part in patient.model.modules()):
        return None
    if isinstance(patient.model, Model):
        return f'{type(patient.model).__name__}(..., norm="BatchNorm")'
    return "x = torch.nn.BatchNorm1d(width)(conv(x, edge_index)).relu()"


def _shallower(patient: Patient) -> str | None:
    layers = len(patient.layers)
    return f"num_layers={sound_depth(patient.findings, layers)}" if layers > 2 else None


def _identity(patient: Patient) -> str | None:
    if isinstance(patient.model, Model):
        starts = {getattr(part, "init", "identity") for _, part in patient.parts()}
        return 'GCN(..., init="identity")' if starts - {"identity"} else None
    names = [
        f"{name}.{weights[0]}" if weights[0] else name
        for name, part in patient.parts()
        if len(weights := _square(part)) == 1
    ]
    if not names:
        return None
    return f'torch.nn.init.eye_(model.get_parameter("{names[0]}"))  # and {len(names) - 1} others'


def _square(part: nn.Module) -> list[str]:
    """The names of the matrices of a layer, if all of them are square."""
    weights = {name: weight for name, weight in part.named_parameters() if weight.dim() == 2}
    square = [name for name, weight in weights.items() if weight.shape[0] == weight.shape[1] > 1]
    return square if len(square) == len(weights) else []


def _pooled(patient: Patient) -> str | None:
    if patient.num_components is None or _has_control(patient):
        return None
    components = f"num_components={patient.num_components}"
    return f'conv = graphsct.nn.add_control(conv, "pooled", {components})'


def _gated(patient: Patient) -> str | None:
    if patient.num_components is not None or _has_control(patient):
        return None
    return 'conv = graphsct.nn.add_control(conv, "gated")'


def _has_control(patient: Patient) -> bool:
    return any(isinstance(part, SmoothnessControl) for part in patient.model.modules())


def _longer(patient: Patient) -> str | None:
    return None if any(f.layers for f in patient.findings) else "more epochs, learning_rate=0.01"


_INSIDE = frozenset(
    ("dead", "exploding", "faded", "over-smoothed", "collapsed", "vanishing gradient")
)
_SMOOTH = frozenset(("over-smoothed", "collapsed"))
#: By name in the catalogue: the findings that a remedy is for, and its line for a model.
_ADVICE: dict[str, tuple[frozenset[str], Callable[[Patient], str | None]]] = {
    "gcnii": (_INSIDE | {"worse than without edges"}, _gcnii),
    "residual": (_INSIDE | {"worse than without edges"}, _residual),
    "batch_norm": (_INSIDE, _batch_norm),
    "shallower": (_INSIDE, _shallower),
    "identity": (_INSIDE - {"collapsed"}, _identity),
    "sct_pooled": (_SMOOTH, _pooled),
    "sct_gated": (_SMOOTH, _gated),
    "longer": (frozenset(("underfits", "guesses", "one answer")), _longer),
}
_LONGER = "No layer has a finding, so training may have been too short or too slow."


@cache
def _measured() -> dict[str, Any]:
    """The gains that ``benchmarks/advice.py`` measured."""
    text = files("graphsct.diagnosis").joinpath("gains.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _evidence(name: str) -> str:
    row, on = _measured()["gains"].get(name), _measured()["on"]
    if row is None:
        return "not measured"
    return (
        f"{row['gain']:+.1f} points of test accuracy (95 % interval {row['low']:+.1f} to "
        f"{row['high']:+.1f}, {row['models']} models) on {on}"
    )
