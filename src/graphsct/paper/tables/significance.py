r"""Whether two sets of runs differ: Welch's test, its confidence interval, Holm's correction."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    if len(set(ours)) == len(set(others)) == 1:
        return Difference(mean, mean, mean, None, 1.0 if mean == 0 else 0.0)
    return _difference(mean, _test("ttest_ind", ours, others, equal_var=False))


def compare_pairs(ours: Sequence[float], others: Sequence[float]) -> Difference | None:
    """The t-test for runs that come in pairs, such as two on the same split; the effect of a split
    on both cancels.

    Example:
        >>> compare_pairs([60.0, 81.0, 70.0], [59.0, 79.0, 69.0]).p < 0.1
        True
    """
    differences = [one - other for one, other in zip(ours, others, strict=True)]
    if len(set(differences)) <= 1:  # too few, or all alike
        return compare(differences, [0.0] * len(differences))
    return _difference(statistics.fmean(differences), _test("ttest_rel", ours, others))


def interval(runs: Sequence[float]) -> tuple[float, float] | None:
    """The 95% confidence interval of a mean, ``None`` for fewer than two runs."""
    if len(runs) < 2:
        return None
    if len(set(runs)) == 1:
        return runs[0], runs[0]
    low, high = _test("ttest_1samp", runs, 0).confidence_interval(1 - LEVEL)
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, which bound the probability of a single false rejection.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = min(1.0, max(least, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted


def _test(name: str, *samples: Any, **options: Any) -> Any:
    """A t-test of SciPy, which would warn about a set of equal runs."""
    from scipy import stats

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        return getattr(stats, name)(*samples, **options)


def _difference(mean: float, found: Any) -> Difference:
    low, high = found.confidence_interval(1 - LEVEL)
    return Difference(mean, float(low), float(high), float(found.statistic), float(found.pvalue))
