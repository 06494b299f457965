import math

import pytest

from graphsct import ModelError
from graphsct.nn.checks import (
    check_depth,
    check_flag,
    check_number,
    check_options,
    check_positive,
    check_rate,
    check_share,
    check_size,
)

RIGHT = {
    check_size: (1, 3, 2**20),
    check_depth: (1, 2**16),
    check_number: (-2.5, 0, 3),
    check_positive: (0.1, 1, 5.5),
    check_share: (0, 0.5, 1),
    check_rate: (0, 0.5, 0.99),
}
WRONG = {
    check_size: (0, -1, 2.0, 2**31, 10**30),
    check_depth: (0, 2.0, 2**16 + 1),
    check_number: (math.inf, -math.inf),
    check_positive: (0, -1.0, math.inf),
    check_share: (-0.1, 1.1),
    check_rate: (-0.1, 1, 1.5),
}


@pytest.mark.parametrize("check", RIGHT)
def test_right_values_come_back(check):
    assert [check(value, "it") for value in RIGHT[check]] == list(RIGHT[check])


@pytest.mark.parametrize("check", WRONG)
def test_wrong_values_are_named(check):
    for wrong in (*WRONG[check], True, None, "3", math.nan, [1]):
        with pytest.raises(ModelError, match=r"it is .*, expected a .*number"):
            check(wrong, "it")


def test_flags_are_not_guessed():
    assert check_flag(True, "it") is True
    for wrong in ("false", 0, None, [True]):
        with pytest.raises(ModelError, match=r"it is .*, expected true or false"):
            check_flag(wrong, "it")


def test_options_have_names():
    assert check_options(None, "them") == {}
    assert check_options({"share": 0.2}, "them") == {"share": 0.2}
    for wrong in ("share", ["share"], {1: 0.2}):
        with pytest.raises(ModelError, match=r"them is .*, expected an object with the names"):
            check_options(wrong, "them")
