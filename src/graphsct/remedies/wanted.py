"""Which smoothness is best? The stored experiment with the layer of the wanted smoothness.

``benchmarks/smoothness.py`` trains networks in which all layers, or only the last, have exactly the
wanted smoothness t, networks that learn t, and the plain network with the same settings and first
weights.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graphsct.datasets.catalog import CATALOG
from graphsct.errors import MissingExtraError
from graphsct.extras import stored_results
from graphsct.training.significance import LEVEL, Difference, adjusted, compare_pairs

__all__ = ["RUNS", "Panel", "ScoredRuns", "read_panels", "suggestion", "verdicts"]

#: The file of the stored runs.
RUNS = "runs.csv"
#: The largest difference of homophily at which one graph says something about another.
_NEAR = 0.15
#: The minimum number of seeds for a verdict.
_SEEDS = 3
_UNCLEAR = "no difference shown"


@dataclass(frozen=True)
class ScoredRuns:
    """The runs of one network, one per seed.

    Args:
        test: test scores in percent
        val: their mean validation score
        smoothness: mean smoothness of all layers after training
    """

    test: tuple[float, ...]
    val: float
    smoothness: float

    @property
    def mean(self) -> float:
        """Mean test score in percent."""
        return statistics.fmean(self.test)

    def gain(self, other: ScoredRuns) -> Difference | None:
        """The mean difference to the runs of another network with the same seeds."""
        return compare_pairs(self.test, other.test)

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {statistics.stdev(self.test):.1f}"


@dataclass(frozen=True)
class Panel:
    """The networks with one depth on one data set.

    Args:
        data: name of the data set
        homophily: homophily of its graph
        depth: number of layers
        networks: runs by the layers that have the wanted smoothness (``none``, ``all``, ``last`` or
            ``learned``), and by its value
    """

    data: str
    homophily: float
    depth: int
    networks: Mapping[tuple[str, float | None], ScoredRuns]

    @property
    def title(self) -> str:
        """Title of the data set."""
        kind, _, share = self.data.partition("-")
        return f"generated, homophily {share}" if kind == "csbm" else CATALOG[self.data].title

    @property
    def plain(self) -> ScoredRuns:
        """The network without a wanted smoothness."""
        return self.networks["none", None]

    def curve(self, layers: str = "all") -> dict[float, ScoredRuns]:
        """The networks by the wanted smoothness of their layers."""
        own = ((t, runs) for (name, t), runs in self.networks.items() if name == layers)
        return {t: runs for t, runs in own if t is not None}

    def best(self, layers: str = "all") -> tuple[float, ScoredRuns]:
        """The wanted smoothness with the best validation score."""
        return max(self.curve(layers).items(), key=lambda pair: pair[1].val)


def verdicts(panels: Sequence[Panel]) -> list[str]:
    """Whether the best wanted smoothness of each panel is better than none: ``helps``, ``costs`` or
    ``no difference shown``, by paired t-tests with Holm's correction over all panels with three
    seeds or more.
    """
    gains = dict(enumerate(map(_gain, panels)))
    p_values = adjusted(gains)
    return [_verdict(gain, p_values.get(number)) for number, gain in gains.items()]


def _gain(panel: Panel) -> Difference | None:
    """The gain of the best, if it can be tested: equal differences or few seeds prove nothing."""
    gain = panel.best()[1].gain(panel.plain)
    tested = gain is not None and gain.t is not None and len(panel.plain.test) >= _SEEDS
    return gain if tested else None


def _verdict(gain: Difference | None, p: float | None) -> str:
    if gain is None or p is None or p >= LEVEL:
        return _UNCLEAR
    return "helps" if gain.mean > 0 else "costs"


def read_panels(path: Path | None = None) -> list[Panel]:
    """Read the stored runs. Each panel has the seeds that all its networks share, two at least.

    Args:
        path: a file of ``benchmarks/smoothness.py report``; defaults to the stored one
    """
    return list(_read(path or stored_results("smoothness") / RUNS))


@cache
def _read(path: Path) -> tuple[Panel, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[tuple[str, float, int], dict[tuple[str, float | None], dict[int, Any]]] = {}
    for row in rows:
        place = row["data"], float(row["homophily"]), int(row["depth"])
        target = float(row["target"]) if row["target"] else None
        runs = found.setdefault(place, {}).setdefault((row["layers"], target), {})
        runs[int(row["seed"])] = row
    panels = (Panel(*place, _shared(networks)) for place, networks in found.items())
    return tuple(panel for panel in panels if panel.networks)


def _shared(
    networks: Mapping[tuple[str, float | None], Mapping[int, Any]],
) -> Mapping[tuple[str, float | None], ScoredRuns]:
    seeds = set.intersection(*(set(runs) for runs in networks.values()))
    if len(seeds) < 2:
        return {}
    return {key: _scored(runs[seed] for seed in sorted(seeds)) for key, runs in networks.items()}


def _scored(rows: Iterable[Any]) -> ScoredRuns:
    own = list(rows)
    test = tuple(100 * float(row["test"]) for row in own)
    val, smoothness = (
        statistics.fmean(float(row[name]) for row in own) for name in ("val", "smoothness")
    )
    return ScoredRuns(test, val, smoothness)


def suggestion(homophily: float | None, depth: int) -> str | None:
    """The advice of the experiment on the wanted smoothness for a graph, with the evidence.

    Args:
        homophily: homophily of the graph, ``None`` if it is not known
        depth: number of layers of the model

    Returns:
        A sentence, or ``None`` if no graph of the experiment has about this homophily, or its runs
        are not installed

    Example:
        >>> suggestion(None, 8)
    """
    if homophily is None or not math.isfinite(homophily):
        return None
    try:
        panels = read_panels()
    except MissingExtraError:
        return None
    near = [each for each in panels if abs(each.homophily - homophily) <= _NEAR]
    if not near:
        return None
    found = min(
        near, key=lambda each: (abs(each.homophily - homophily), abs(math.log(each.depth / depth)))
    )
    verdict = verdicts(panels)[panels.index(found)]
    t, runs = found.best()
    gain = runs.gain(found.plain)
    sure = "not significant" if verdict == _UNCLEAR else "significant"
    shown = "" if gain is None else f" of {gain.mean:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]"
    advice = f"control 'target' with t = {t:g}" if verdict == "helps" else "none"
    where = found.title
    if found.data in CATALOG:
        where += f", homophily {found.homophily:.2f}"
    return (
        f"{advice}. In the stored experiment nearest to this graph ({where}, {found.depth} layers, "
        f"{len(runs.test)} seeds), validation chooses t = {t:g} for all layers. Its test score is "
        f"{runs}, and {found.plain} without a wanted smoothness: the difference{shown} is {sure} "
        "after Holm's correction for all graphs of the experiment"
    )
