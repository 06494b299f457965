import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from graphsct.paper.cell import Key
from graphsct.paper.replay import Printed, Replay, ReplayTrial, expected_best, lead_changes


def replay(*trials):
    return Replay(Key("cora", "gcn", None, 2), tuple(ReplayTrial(*trial) for trial in trials))


TWO = replay(("relu", 0.5, 0.8, 0.80), ("leaky_relu", 0.6, 0.8, 0.82), ("relu", 0.9, 0.7, 0.60))


def test_many_trials_print_that_of_the_least_validation_loss():
    often = replace(TWO, trials=TWO.trials * 70)
    assert often.printed() == pytest.approx((80, 80, 80))


def test_no_more_trials_are_drawn_than_there_are():
    assert TWO.printed() == TWO.printed(trials=3)


def test_the_better_test_accuracy_of_two_activations():
    assert TWO.printed(better=True) == pytest.approx((82, 82, 82))


def test_one_trial_prints_any_of_them():
    found = TWO.printed(trials=1)
    assert found.mean == pytest.approx((80 + 82 + 60) / 3, abs=0.5)
    assert (found.low, found.high) == pytest.approx((60, 82))


def test_two_trials_by_hand():
    """The worst of three is drawn twice in one of nine cases, the best at least once in five."""
    found = TWO.printed(trials=2)
    assert found.mean == pytest.approx((5 * 80 + 3 * 82 + 60) / 9, abs=0.5)


@pytest.mark.parametrize(
    ("number", "place"), [(79.9, "below"), (80.0, "inside"), (82.0, "inside"), (82.1, "above")]
)
def test_a_number_lies_in_the_band_or_beside_it(number, place):
    assert Printed(81.0, 80.0, 82.0).place(number) == place


def test_one_activation_alone():
    assert TWO.with_activation("leaky_relu").printed() == pytest.approx((82, 82, 82))
    assert TWO.with_activation(None) == TWO


def test_srelu_is_not_among_the_two_activations():
    third = replay(("srelu", 0.1, 0.9, 0.99), *map(dataclasses.astuple, TWO.trials))
    assert third.printed(better=True) == pytest.approx((82, 82, 82))


def test_replays_of_two_cells_are_independent():
    draws = TWO.draws(trials=1), TWO.draws(trials=1, seed=1)
    assert abs(np.corrcoef(draws)[0, 1]) < 0.05
    assert (TWO.draws() == TWO.draws()).all()


def test_who_leads_may_change_and_ties_do_not_count():
    assert lead_changes([1, 1, 1], [1, 0, 2]) == [3]
    assert lead_changes([1, 2, 3], [0, 2, 1]) == []
    assert lead_changes([], []) == []


def test_diverged_trials_count_as_drawn():
    assert replace(TWO, diverged=2).drawn == 5


def test_the_expected_best_grows_to_the_best():
    found = expected_best([0.7, 0.9, 0.8])
    assert found[0] == pytest.approx(0.8)
    assert found == sorted(found)
    assert found[-1] < 0.9


def test_it_comes_back_from_json():
    assert Replay.from_json(TWO.to_json()) == TWO
