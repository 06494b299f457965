from graphsct.diagnosis.rates import ErrorRate, describe_rate, read_rates
from graphsct.diagnosis.verdict import KINDS


def test_rates_are_those_of_at_least_150_unseen_models():
    rates = read_rates()
    assert rates.models >= 150
    assert set(rates.findings) <= set(KINDS)
    for kind, rate in rates.findings.items():
        assert 0 <= rate.found <= rate.faulty, kind
        assert 0 <= rate.clear <= rate.sound, kind


def test_sensitivity_and_specificity():
    rate = ErrorRate(found=19, faulty=20, clear=98, sound=100)
    assert rate.sensitivity == 0.95
    assert rate.specificity == 0.98
    assert ErrorRate(0, 0, 0, 0).sensitivity is None
    assert ErrorRate(0, 0, 0, 0).text == "not measured"


def test_a_kind_that_was_not_measured():
    assert describe_rate("no such finding") == "not measured"
    assert "models that have it" in describe_rate("over-smoothed")
