"""Advice against findings, each with the line of code to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphsct.diagnosis.verdict import Finding
from graphsct.records import Record

__all__ = ["ADVICE", "Advice", "advise", "sound_depth"]


@dataclass(frozen=True)
class Advice(Record):
    """A remedy to try.

    Args:
        name: short name
        change: line of code to change
        why: reason in one line
    """

    name: str
    change: str
    why: str


#: By name; ``{depth}``, ``{layers}`` and ``{control}`` are filled in.
ADVICE = {
    advice.name: advice
    for advice in (
        Advice(
            "identity",
            'GCN(..., init="identity"), or torch.nn.init.eye_(conv.lin.weight) for square weights',
            "a deep stack starts as plain propagation and neither shrinks nor mixes its features",
        ),
        Advice(
            "residual",
            "graphsct.nn.GCNII(in_channels, hidden_channels, out_channels, num_layers={layers})",
            "every layer gets the first features again, so depth does not wear them away",
        ),
        Advice(
            "control",
            "conv = graphsct.nn.add_control(conv, {control})",
            "a learnable shift inside the eigenspace moves the smoothness of each layer",
        ),
        Advice(
            "shallower",
            "num_layers={depth}",
            "the layers up to there are in order; more than a handful rarely help a plain stack",
        ),
        Advice(
            "no decay",
            "weight_decay=0 for the convolutions (TrainConfig(conv_weight_decay=0))",
            "decay shrinks the weights of every layer, and depth multiplies the effect",
        ),
    )
}

# Ordered by their effect where they were tried.
_FOR = {
    "dead": ("residual", "shallower", "no decay", "identity"),
    "faded": ("residual", "shallower", "no decay", "identity"),
    "over-smoothed": ("residual", "shallower", "identity", "control"),
    "collapsed": ("residual", "shallower", "control"),
    "vanishing gradient": ("residual", "shallower", "identity"),
}


def advise(
    findings: Sequence[Finding], num_layers: int, num_components: int | None
) -> tuple[Advice, ...]:
    """Advice against these findings, that of the first finding first.

    Args:
        findings: the findings
        num_layers: number of layers of the model
        num_components: number of components of its graph, none if it has many graphs

    Example:
        >>> finding = Finding("over-smoothed", tuple(range(9, 17)), "...")
        >>> [advice.change for advice in advise([finding], 16, 1)][1]
        'num_layers=8'
    """
    names = dict.fromkeys(name for finding in findings for name in _FOR[finding.kind])
    depth = sound_depth(findings, num_layers)
    pooled = f'"pooled", num_components={num_components}'
    control = '"gated"' if num_components is None else pooled
    fill = {"depth": depth, "layers": num_layers, "control": control}
    return tuple(
        Advice(name, ADVICE[name].change.format(**fill), ADVICE[name].why) for name in names
    )


def sound_depth(findings: Sequence[Finding], num_layers: int) -> int:
    """A sound depth: the layers before the first unhealthy one, at most half of all.

    Example:
        >>> sound_depth([Finding("dead", (6, 7, 8), "...")], 32)
        5
    """
    sound = min((finding.layers[0] for finding in findings), default=1) - 1
    return sound if 2 <= sound <= num_layers // 2 else max(1, min(4, num_layers // 2))
