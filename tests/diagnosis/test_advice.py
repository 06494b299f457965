import pytest

from graphsct.diagnosis.advice import ADVICE, advise, sound_depth
from graphsct.diagnosis.verdict import KINDS, Finding


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_something_to_try_against_each(kind):
    found = advise([Finding(kind, (5, 6, 7, 8), "")], num_layers=16, num_components=78)
    assert found
    for advice in found:
        assert advice.name in ADVICE
        assert "{" not in advice.change
        assert advice.to_dict() == vars(advice)


def test_nothing_to_try_against_nothing():
    assert advise([], 16, 1) == ()


def test_each_is_named_once_and_the_numbers_are_filled_in():
    findings = [Finding("dead", (9, 10), ""), Finding("vanishing gradient", tuple(range(1, 9)), "")]
    found = advise(findings, num_layers=32, num_components=78)
    names = [advice.name for advice in found]
    assert len(names) == len(set(names))
    assert names == ["residual", "shallower", "no decay", "identity"]
    changes = " ".join(advice.change for advice in found)
    assert "num_layers=32" in changes
    control = advise([Finding("over-smoothed", (4,), "")], 8, 78)
    assert any("num_components=78" in advice.change for advice in control)


@pytest.mark.parametrize(
    ("first", "depth", "expected"), [(6, 32, 5), (1, 32, 4), (2, 32, 4), (30, 32, 4), (3, 3, 1)]
)
def test_depth_before_the_first_bad_layer(first, depth, expected):
    assert sound_depth([Finding("dead", (first,), "")], depth) == expected


def test_the_control_for_many_graphs_belongs_to_none():
    found = advise([Finding("over-smoothed", (4,), "")], 8, None)
    (change,) = (advice.change for advice in found if advice.name == "control")
    assert change == 'conv = graphsct.nn.add_control(conv, "gated")'
