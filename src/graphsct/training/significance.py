"""Whether two sets of runs differ: t-tests, confidence intervals and Holm's correction."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from warnings import catch_warnings

__all__ = [
    "LEVEL",
    "Difference",
    "adjusted",
    "compare",
    "compare_pairs",
    "holm",
    "interval",
    "prediction_interval",
]

K = TypeVar("K")

#: Errors of the first kind that are allowed.
LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """The mean of some runs minus that of others.

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
    r"""Welch's test, which allows for different variances and numbers of runs.

    .. math::
        t = \frac{\mu_1 - \mu_2}{\sqrt{\sigma_1^2 / n_1 + \sigma_2^2 / n_2}}

    Returns:
        ``None`` if one of them has fewer than two runs

    Example:
        >>> compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p
        1.0
    """
    from scipy.stats import ttest_ind

    if min(len(ours), len(others)) < 2:
        return None
    mean = statistics.fmean(ours) - statistics.fmean(others)
    if _is_constant(ours) and _is_constant(others):
        return _certain(mean)
    with catch_warnings(action="ignore", category=RuntimeWarning):  # one side may be constant
        return _tested(mean, ttest_ind(ours, others, equal_var=False))


def compare_pairs(ours: Sequence[float], others: Sequence[float]) -> Difference | None:
    """A t-test of the differences of pairs, such as two runs on the same split.

    The effect of a split on both runs cancels out.

    Example:
        >>> compare_pairs([60.0, 81.0, 70.0], [59.0, 79.0, 69.0]).p < 0.1
        True
    """
    return _mean([one - other for one, other in zip(ours, others, strict=True)])


def interval(runs: Sequence[float]) -> tuple[float, float] | None:
    """The 95% confidence interval of a mean, ``None`` for fewer than two runs."""
    found = _mean(runs)
    return None if found is None else (found.low, found.high)


def prediction_interval(runs: Sequence[float]) -> tuple[float, float] | None:
    r"""The 95% interval in which one more run lies, ``None`` for fewer than two runs.

    .. math::
        \mu \pm t_{n-1} \, \sigma \sqrt{1 + 1 / n}

    Unlike the interval of a mean, it does not shrink to a point with the number of runs.

    Example:
        >>> [round(end, 1) for end in prediction_interval([80.0, 81.0, 82.0])]
        [76.0, 86.0]
    """
    found = interval(runs)
    if found is None:
        return None
    mean, wider = statistics.fmean(runs), math.sqrt(len(runs) + 1)
    low, high = (mean + wider * (end - mean) for end in found)
    return low, high


def _mean(runs: Sequence[float]) -> Difference | None:
    """The mean of some runs, compared with zero."""
    from scipy.stats import ttest_1samp

    if len(runs) < 2:
        return None
    mean = statistics.fmean(runs)
    return _certain(mean) if _is_constant(runs) else _tested(mean, ttest_1samp(runs, 0.0))


def _is_constant(runs: Sequence[float]) -> bool:
    """Whether runs differ by no more than rounding."""
    return math.isclose(min(runs), max(runs), rel_tol=1e-12, abs_tol=1e-12)


def _certain(mean: float) -> Difference:
    return Difference(mean, mean, mean, None, 1.0 if mean == 0 else 0.0)


def _tested(mean: float, found: Any) -> Difference:
    """The result of one of SciPy's t-tests."""
    low, high = found.confidence_interval(1 - LEVEL)
    return Difference(mean, float(low), float(high), float(found.statistic), float(found.pvalue))


def adjusted(differences: Mapping[K, Difference | None]) -> dict[K, float]:
    """The p values of those differences that are known, by :func:`holm`."""
    known = {key: found.p for key, found in differences.items() if found is not None}
    return dict(zip(known, holm(list(known.values())), strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, which bound the risk of even one false finding.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = min(1.0, max(least, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted
