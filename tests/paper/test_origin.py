import pytest

from graphsct.paper.origin import Allowed


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ({"trials": 5, "seconds": None}, None),
        ({"trials": 5, "seconds": None, "max_hidden": None}, None),
        ({"trials": 5, "seconds": 9.0, "max_hidden": 32, "finalists": 0}, 32),
    ],
)
def test_budgets_of_all_versions_are_written_as_they_were_read(values, limit):
    allowed = Allowed.from_dict(values)
    assert allowed.limit == limit
    assert allowed.to_dict() == values


def test_a_limit_is_covered_by_a_larger_one_or_none():
    narrow, wide, free = (
        Allowed(trials=5, seconds=None, max_hidden=width) for width in (16, 64, None)
    )
    assert wide.covers(narrow) and not narrow.covers(wide)
    assert free.covers(wide) and not wide.covers(free)
    assert free.covers(Allowed(trials=5, seconds=None))
