r"""Whether two sets of runs differ: Welch's test, its confidence interval, Holm's correction."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LEVEL", "Difference", "compare", "compare_pairs", "holm", "interval"]

#: Errors of the first kind that are allowed.
LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """The mean of some runs less that of others.

    Args:
        mean: the difference
        low: lower end of its 95% confidence interval
        high: upper end
        t: the test's statistic, ``None`` if no run differs from its own mean
        p: two-sided
    """

    mean: float
    low: float
    high: float
    t: float | None
    p: float


def compare(ours: Sequence[float], others: Sequence[float]) -> Difference | None:
    r"""Welch's test, for which the two sets need neither one variance nor one size.

    .. math::
        t = \frac{\mu_1 - \mu_2}{\sqrt{\sigma_1^2 / n_1 + \sigma_2^2 / n_2}}

    Returns:
        ``None`` if one of them has fewer than two runs

    Example:
        >>> compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p
        1.0
    """
    if min(len(ours), len(others)) < 2:
        return None
    mean = statistics.fmean(ours) - statistics.fmean(others)
    parts = [(statistics.variance(runs) / len(runs), len(runs) - 1) for runs in (ours, others)]
    square = sum(part for part, _ in parts)
    if square == 0:
        return Difference(mean, mean, mean, None, 1.0 if mean == 0 else 0.0)
    freedom = square**2 / sum(part**2 / more for part, more in parts)
    t = mean / math.sqrt(square)
    margin = _quantile(freedom) * math.sqrt(square)
    return Difference(mean, mean - margin, mean + margin, t, _two_sided(t, freedom))


def compare_pairs(ours: Sequence[float], others: Sequence[float]) -> Difference | None:
    """The same for runs that come in pairs, such as two on the same split: a t-test of their
    differences, in which what a split does to both does not count.

    Example:
        >>> compare_pairs([60.0, 81.0, 70.0], [59.0, 79.0, 69.0]).p < 0.1
        True
    """
    differences = [one - other for one, other in zip(ours, others, strict=True)]
    return compare(differences, [0.0] * len(differences))


def interval(runs: Sequence[float]) -> tuple[float, float] | None:
    """The 95% confidence interval of a mean, ``None`` for fewer than two runs."""
    if len(runs) < 2:
        return None
    mean, n = statistics.fmean(runs), len(runs)
    margin = _quantile(n - 1) * statistics.stdev(runs) / math.sqrt(n)
    return mean - margin, mean + margin


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values: of all that are below a level, none is false with that surety.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = min(1.0, max(least, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted


def _quantile(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf(1 - LEVEL / 2, freedom))


def _two_sided(value: float, freedom: float) -> float:
    from scipy.stats import t

    return float(2 * t.sf(abs(value), freedom))
