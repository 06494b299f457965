import math

import pytest
from optuna.trial import TrialState

from graphsct import TrainingError
from graphsct.search.evaluate import Score
from graphsct.search.journal import Journal
from graphsct.search.outcome import Counts, Outcome
from graphsct.search.study import Study
from graphsct.training.selection import Criterion

CHOICES = {
    "learning_rate": (1e-4, 1e-3, 1e-2),
    "dropout": (0.1, 0.2, 0.3, 0.4),
    "activation": ("relu", "leaky_relu"),
}
FIRST = {"learning_rate": 0.01, "dropout": 0.3, "activation": "relu"}


def make(journal=None, select="val_score", identity=None, choices=CHOICES, first=(FIRST,)):
    identity = {"task": "this"} if identity is None else identity
    return Study(identity, choices, first, criterion=Criterion(select), seed=0, journal=journal)


def score(accuracy, loss=1.0):
    return Score(val_score=accuracy, val_loss=loss, best_epoch=10.0, seconds=2.0)


def one(study, limit=100):
    (taken,) = study.take(limit, lambda chosen: 1)
    return taken


def test_known_settings_come_first_and_nothing_comes_twice():
    study = make()
    tried = []
    for number in range(20):
        taken = one(study)
        tried.append(taken.chosen)
        study.done(taken, score(0.1 * (number % 5)))
    assert tried[0] == FIRST
    assert all(chosen["dropout"] in CHOICES["dropout"] for chosen in tried)
    assert len({tuple(chosen.values()) for chosen in tried}) == 20
    assert study.counts() == Counts(trials=20, pruned=0, failed=0, seconds=40.0, finalists=0)


def test_what_differs_in_a_setting_of_another_activation_comes_once():
    choices = {"activation": ("relu", "leaky_relu"), "negative_slope": (0.01, 0.1, 0.3)}
    study = make(choices=choices, first=())
    tried = []
    for _ in range(4):  # there is ReLU, and leaky ReLU with three slopes
        taken = one(study)
        tried.append(taken.chosen)
        study.done(taken, score(0.5))
    assert sorted(chosen["activation"] for chosen in tried) == ["leaky_relu"] * 3 + ["relu"]
    slopes = [each["negative_slope"] for each in tried if each["activation"] == "leaky_relu"]
    assert sorted(slopes) == [0.01, 0.1, 0.3]
    (plain,) = (row.chosen for row in study.rows() if row.chosen["activation"] == "relu")
    assert "negative_slope" not in plain


def test_a_space_that_is_used_up_is_repeated():
    study = make(choices={"hidden": (16, 32)}, first=())
    for _ in range(4):
        study.done(one(study), score(0.5))
    assert study.counts().trials == 4


def test_groups_and_the_limit():
    study = make()
    assert len(study.take(6, lambda chosen: 4)) == 4
    assert len(study.take(6, lambda chosen: 4)) == 2
    assert study.take(6, lambda chosen: 4) == []


@pytest.mark.parametrize(
    ("select", "expected"), [("val_score", (0.8, 0.5)), ("val_loss", (0.7, 0.4))]
)
def test_the_best_and_how_ties_are_broken(select, expected):
    study = make(select=select)
    for values in [(0.8, 0.6), (0.8, 0.5), (0.7, 0.4), (0.6, 0.4)]:
        study.done(one(study), score(*values))
    best = study.best().user_attrs
    assert (best["val_score"], best["val_loss"]) == expected
    assert study.best_score() == best[select]


def final(accuracy, loss=1.0):
    return Outcome.of(score(accuracy, loss))


def test_the_finals_decide_among_the_best():
    study = make()
    for accuracy in (0.6, 0.9, 0.8, 0.7):
        study.done(one(study), score(accuracy))
    lucky, second = study.finalists(2)
    assert (lucky.number, second.number) == (1, 2)
    study.set_final(lucky, final(0.65))
    assert study.best_score() == 0.65  # nobody else has been there
    assert [trial.number for trial in study.finalists(2)] == [2]
    study.set_final(second, final(0.75))
    assert study.best().number == 2
    assert study.best_score() == 0.75
    assert study.finalists(2) == []
    assert study.counts().finalists == 2
    assert study.counts().seconds == 6 * 2.0


def test_a_finalist_that_diverges_is_out_of_it():
    study = make()
    for accuracy in (0.6, 0.9, 0.8):
        study.done(one(study), score(accuracy))
    first, _ = study.finalists(2)
    study.set_final(first, Outcome(diverged=True, seconds=1.0))
    assert study.best().number == 2
    study.set_final(study.finalists(1)[0], final(0.5))
    assert study.best_score() == 0.5


def test_there_are_no_finals_while_a_trial_is_under_way():
    study = make()
    study.done(one(study), score(0.6))
    last = one(study)
    assert study.finalists(2) == []
    study.done(last, score(0.7))
    assert len(study.finalists(2)) == 2


@pytest.mark.parametrize(("select", "worst"), [("val_score", 0.0), ("val_loss", math.inf)])
def test_a_trial_that_diverged_is_the_worst_and_never_the_best(select, worst):
    study = make(select=select)
    study.diverged(one(study), 1.0)
    assert study.best_score() is None
    with pytest.raises(TrainingError, match="no trial has finished"):
        study.best()
    for _ in range(11):
        study.done(one(study), score(0.0, 5.0))
    assert study.trials()[0].value == worst
    assert not study.best().user_attrs.get("diverged")
    assert study.counts().failed == 1
    row = study.rows()[0]
    assert (row.state, row.val_loss, row.seconds) == ("diverged", None, 1.0)


def test_the_worst_quarter_is_given_up_at_a_rung_and_kept_in_the_rows():
    study = make()
    for number in range(8):
        taken = one(study)
        assert not study.hopeless(taken, 100, score(0.5 + 0.01 * number))
        study.done(taken, score(0.6))
    bad, fair = one(study), one(study)
    assert study.hopeless(bad, 100, score(0.51))
    assert not study.hopeless(fair, 100, score(0.52))
    assert study.counts().pruned == 1
    assert [row.state for row in study.rows()] == ["complete"] * 8 + ["pruned"]
    # A trial that was over before a rung counts there with its last score.
    assert study.trials()[0].intermediate_values[800] == 0.6


def test_another_study_in_the_same_folder_is_refused(tmp_path):
    with Journal(tmp_path) as journal:
        make(journal, identity={"task": {"select": "val_score"}})
    with Journal(tmp_path) as journal:
        make(journal, identity={"task": {"select": "val_score"}})
        message = r"task\.select is 'val_score' there, 'val_loss' here\. Resume with the same"
        with pytest.raises(TrainingError, match=message):
            make(journal, identity={"task": {"select": "val_loss"}})


def test_what_a_process_has_left_is_begun_again_and_nothing_is_lost(tmp_path):
    with Journal(tmp_path) as journal:
        study = make(journal)
        study.done(one(study), score(0.5))
        left = [one(study).chosen for _ in range(2)]
    with Journal(tmp_path) as journal:
        study = make(journal)
        assert study.best_score() == 0.5
        again = [one(study, limit=3) for _ in range(2)]
        assert [taken.chosen for taken in again] == left
        assert study.take(3, lambda chosen: 1) == []
        for taken in again:
            study.done(taken, score(0.6))
        assert study.counts().trials == 3
        assert study.counts().failed == 0


def test_trials_of_a_living_process_are_left_alone(tmp_path):
    with Journal(tmp_path) as first, Journal(tmp_path) as second:
        mine, other = make(first), make(second)
        taken, theirs = one(mine), one(other)
        assert taken.chosen != theirs.chosen
        assert other.take(2, lambda chosen: 1) == []
        mine.done(taken, score(0.5))
        assert other.counts().trials == 1


def test_a_trial_that_ends_every_process_is_given_up(tmp_path):
    for _ in range(3):
        with Journal(tmp_path) as journal:
            assert one(make(journal)).chosen == FIRST
    with Journal(tmp_path) as journal:
        study = make(journal)
        assert one(study, limit=2).chosen != FIRST
        assert study.counts().failed == 1
        assert study.rows()[0].state == "fail"


def test_a_process_that_was_killed_while_it_chose(tmp_path):
    with Journal(tmp_path) as journal:
        study = make(journal, first=())
        trial = study._study.ask()
        trial.suggest_categorical("activation", CHOICES["activation"])
    with Journal(tmp_path) as journal:
        study = make(journal, first=())
        taken = one(study)
        assert set(taken.chosen) == set(CHOICES)
        assert taken.chosen["activation"] == trial.params["activation"]
        assert len(study.begun()) == 1


def test_an_interrupted_trial_is_given_back():
    study = make()
    taken = one(study)
    study.give_back(taken)
    assert study.begun() == []
    assert one(study).chosen == taken.chosen
    assert study.trials()[0].state == TrialState.FAIL
