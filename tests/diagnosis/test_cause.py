import pytest

from graphsct.diagnosis.cause import CAUSES, Cause, Intervention, conclude


@pytest.mark.parametrize(
    ("skills", "cause"),
    [
        ({"started anew": 0.9}, "training"),
        ({"no edges": 0.9}, "over-smoothing"),
        ({"kept size": 0.9}, "weak signal"),
        ({"identity start": 0.9, "no edges": 0.3}, "weak signal"),
        ({"identity start": 0.9, "no edges": 0.9}, "both"),
        ({"fewer layers": 0.9}, "depth"),
        ({"no edges": 0.4, "kept size": 0.5}, "unknown"),
    ],
)
def test_each_cause_by_its_experiments(skills, cause):
    assert conclude({"started anew": 0.1} | skills) == cause


def test_a_change_must_get_half_of_the_way():
    assert conclude({"started anew": 0.5, "no edges": 0.74}) == "unknown"
    assert conclude({"started anew": 0.5, "no edges": 0.76}) == "over-smoothing"


def test_it_is_read_back():
    cause = Cause("weak signal", 60, (Intervention("started anew", 0.1),))
    assert Cause.from_dict(cause.to_dict()) == cause
    assert cause.to_dict()["text"] == CAUSES["weak signal"]
