import pytest
from runs import make_run

from graphsct.diagnosis.effect import Effect


def test_means_and_deviations_are_over_the_seeds():
    runs = make_run(0.5, 0.4, seed=0), make_run(0.75, 0.8, seed=3, best_epoch=2)
    found = Effect("control", runs, (0.125, -0.125))
    values = found.to_dict()
    assert (found.test, found.val) == ([0.5, 0.75], [0.4, 0.8])
    assert values["name"] == "control"
    assert (values["test_mean"], values["test_std"]) == (0.625, pytest.approx(0.125 * 2**0.5))
    assert (values["val_mean"], values["val_std"]) == pytest.approx((0.6, 0.2 * 2**0.5))
    assert (values["difference_mean"], values["difference_std"]) == (0, pytest.approx(0.03125**0.5))
    assert (values["seeds"], values["best_epochs"]) == ([0, 3], [7, 2])
    assert values["train"] == runs[0].config.to_dict()


def test_a_single_seed_has_no_deviation():
    values = Effect("control", (make_run(0.5),), (0.25,)).to_dict()
    assert (values["test_std"], values["val_std"], values["difference_std"]) == (0, 0, 0)
