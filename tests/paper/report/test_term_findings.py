from dataclasses import replace

import pytest

from graphsct.paper.report.term_findings import term_findings
from graphsct.paper.tables.learned_term import Change, FeatureMedians


@pytest.fixture
def term(tables):
    return tables["term"]


def test_every_number_is_counted(term):
    equal, size, use, undoing, smoothness = term_findings(term)
    assert equal.answer == "In 0 of 2 cells"
    assert "accuracy differs by +0.0 [+0.0, +0.0] points without the term" in equal.text
    assert equal.text.endswith("and 25.0 % of the test nodes get another class.")
    assert size.answer == "2.0 to 16.0 % of the features it is added to"
    assert "of 2 cells, 4 runs. Between 3 % and 25 % of the dimensions use the term." in size.text
    assert "they have moved 111.1 % of the distance" in size.text
    assert use.answer == "Removing it has an effect in 1 of 2 cells"
    for part in (
        "changes accuracy by -20.0 [-274.1, +234.1] points and the class of 25.0 % of the test",
        "by +0.0 [+0.0, +0.0] points, with an effect in 0 cells; shuffling",
    ):
        assert part in use.text
    assert undoing.answer == "In 1 of 2 cells"
    assert undoing.text.endswith("the cosine is -0.50 to +0.50.")
    assert smoothness.answer == "By +0.000 to +0.200"
    assert "The effective rank differs by +0.0." in smoothness.text


def test_what_is_not_known_is_not_counted(term):
    dead = FeatureMedians(dead=100.0, smoothness=None, effective_rank=0.0, distance=0.0)
    once = Change(mean=-1.0, low=None, high=None, p=None, changed=3.0)
    row = replace(
        term.rows[0],
        size=None,
        dimensions=None,
        cosine=None,
        removed=once,
        base=once,
        features={"with_term": dead, "removed": dead},
    )
    equal, size, use, undoing, smoothness = term_findings(replace(term, rows=(row,)))
    assert equal.counts == (("helps", 0), ("unclear", 1), ("hurts", 0))
    assert size.answer == "unknown % of the features it is added to"
    assert use.answer == "Removing it has an effect in 0 of 1 cells"
    assert "changes accuracy by -1.0 points" in use.text
    assert undoing.answer == "In 0 of 0 cells"
    assert smoothness.answer == "By unknown"


def test_a_term_helps_where_its_model_is_surely_worse_without_it(term):
    def find(*changes):
        rows = []
        for n, (mean, p) in enumerate(changes, start=3):
            change = Change(mean=mean, low=mean - 0.5, high=mean + 0.5, p=p, changed=5.0)
            rows.append(replace(term.rows[0], n=n, base=change))
        return next(term_findings(replace(term, rows=tuple(rows))))

    equal = find((-1.0, 0.001), (2.0, 0.02), (-3.0, 0.03))  # Holm: 0.003, 0.04 and 0.04
    assert equal.answer == "In 2 of 3 cells"
    assert equal.counts == (("helps", 2), ("unclear", 0), ("hurts", 1))
    assert "3 to 5 runs each. SCT helps in 2, hurts in 1, and in 0 no" in equal.text
    assert "of the gain is above zero in 2 and below in 1. On average" in equal.text
    assert find((-1.0, 0.001), (2.0, 0.02), (-3.0, 0.2)).answer == "In 1 of 3 cells"


def test_nothing_measured_is_nothing_said(term):
    assert list(term_findings(replace(term, rows=()))) == []
