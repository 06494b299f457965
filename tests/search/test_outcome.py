import pytest

from graphsct.search.evaluate import Score
from graphsct.search.outcome import Outcome, TrialRow
from graphsct.training.selection import Criterion


def test_values_that_do_not_exist_are_left_out():
    assert Outcome(diverged=True, seconds=1.5).to_dict() == {"diverged": True, "seconds": 1.5}
    values = {"val_score": 0.5, "val_loss": 0.7, "best_epoch": 9.0, "seconds": 1.5}
    outcome = Outcome.of(Score(**values))
    assert outcome.to_dict() == values
    assert Outcome.from_dict(values) == outcome


@pytest.mark.parametrize(("select", "best"), [("val_score", "cab"), ("val_loss", "bca")])
def test_the_best_comes_first_and_the_other_measure_decides_between_equals(select, best):
    outcomes = {
        "a": Outcome(val_score=0.5, val_loss=0.4),
        "b": Outcome(val_score=0.4, val_loss=0.2),
        "c": Outcome(val_score=0.5, val_loss=0.3),
    }
    by = Criterion(select)
    assert "".join(sorted(outcomes, key=lambda name: outcomes[name].rank(by))) == best
    even = Outcome(val_score=0.4, val_loss=0.3), Outcome(val_score=0.5, val_loss=0.3)
    assert min(even, key=lambda one: one.rank(Criterion("val_loss"))) is even[1]


def test_settings_stand_beside_the_other_values_of_a_row():
    row = TrialRow(3, "complete", 0.5, 0.7, 9.0, 1.5, None, None, {"dropout": 0.25})
    assert row.to_dict() == {
        "trial": 3,
        "state": "complete",
        "val_score": 0.5,
        "val_loss": 0.7,
        "best_epoch": 9.0,
        "seconds": 1.5,
        "final_val_score": None,
        "final_val_loss": None,
        "dropout": 0.25,
    }
