import numpy as np
import pytest
from scipy import stats

from graphsct.training.significance import adjusted, compare, compare_pairs, holm, interval


@pytest.mark.parametrize(("n", "m", "scale"), [(10, 10, 1.0), (10, 100, 3.0), (2, 5, 0.1)])
def test_it_is_welchs_test(n, m, scale):
    rng = np.random.default_rng(n)
    a, b = rng.normal(80.5, 1, n), rng.normal(80, scale, m)
    found = compare(a.tolist(), b.tolist())
    expected = stats.ttest_ind(a, b, equal_var=False)
    bounds = expected.confidence_interval(0.95)
    assert found.mean == pytest.approx(a.mean() - b.mean())
    assert (found.t, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


def test_runs_that_are_all_alike():
    same = compare([80.0, 80.0], [80.0, 80.0, 80.0])
    assert (same.mean, same.low, same.high, same.t, same.p) == (0, 0, 0, None, 1)
    other = compare([81.0, 81.0], [80.0, 80.0])
    assert (other.mean, other.t, other.p) == (1, None, 0)
    assert compare([80.0, 80.0], [79.0, 81.5]).p > 0.5


def test_one_run_tells_nothing():
    assert compare([80.0], [79.0, 80.0]) is None
    assert interval([80.0]) is None


def test_the_interval_of_a_mean():
    runs = [79.0, 80.5, 81.0, 80.0]
    expected = stats.t.interval(0.95, 3, np.mean(runs), stats.sem(runs))
    assert interval(runs) == pytest.approx(expected)


def test_holm_is_monotone_and_at_most_one():
    # Worked by hand: 4 x .005, 3 x .01, then max(.03, 2 x .03), max(.06, 1 x .04)
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_are_those_of_scipy():
    rng = np.random.default_rng(0)
    base = rng.normal(60, 10, 10)
    ours = base + rng.normal(1, 1, 10)
    found = compare_pairs(ours.tolist(), base.tolist())
    wanted = stats.ttest_rel(ours, base)
    assert found.p == pytest.approx(wanted.pvalue)
    assert found.t == pytest.approx(wanted.statistic)
    low, high = wanted.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.p < compare(ours.tolist(), base.tolist()).p


def test_unknown_differences_are_left_out_of_the_correction():
    known = {"a": compare([1.0, 2.0], [1.0, 4.0]), "b": None, "c": compare([1.0, 2.0], [9.0, 8.0])}
    p_values = holm([known["a"].p, known["c"].p])
    assert adjusted(known) == dict(zip("ac", p_values, strict=True))
