import time
from dataclasses import replace

import pytest
from together import FAST, TASK, is_running

from graphsct import TrainingError
from graphsct.datasets import demo
from graphsct.search import worker
from graphsct.search.blind import BlindData
from graphsct.search.deadline import Deadline
from graphsct.search.worker import Plan, work

PLAN = Plan(TASK, trials=2, seed=0, runs=1, **FAST, until=None, folder=None)


@pytest.fixture(scope="module")
def data():
    return BlindData.of(demo())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": 0}, "trials is 0, expected at least 1"),
        ({"runs": 0}, "runs is 0, expected at least 1"),
        ({"finalists": -1}, "finalists is -1, expected at least 0"),
        ({"epochs": 0}, "epochs is 0"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(change, message):
    with pytest.raises(TrainingError, match=message):
        replace(PLAN, **change)


def test_work_ends_with_the_trials_and_shows_each_change(data):
    seen = []
    with PLAN.open(data) as study:
        work(PLAN, study, data, lambda: False, lambda study: seen.append(study.counts().trials))
        found = PLAN.found(study, interrupted=False)
    assert sorted(seen) == seen and seen[0] == 0 and seen[-1] == 2
    assert (found.trials, found.failed, found.seeds_per_trial) == (2, 0, 1)
    best = study.best()
    candidate = PLAN.candidate(study.chosen(best.params))
    assert (found.model, found.train) == (candidate.model, candidate.train)
    assert (found.train.epochs, found.train.patience) == (FAST["epochs"], FAST["patience"])


def test_trials_under_way_are_given_back(data):
    with PLAN.open(data) as study:
        asked = iter([False])  # once before the trials begin, then never again
        work(PLAN, study, data, lambda: next(asked, True))
        assert study.counts().trials == 0
        assert not any(map(is_running, study.trials()))
        work(PLAN, study, data, lambda: False)
        assert study.counts().trials == 2


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone cannot be changed here")
def test_a_time_zone_without_dates_is_refused_before_the_work(data, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "<+25>-25")
        time.tzset()
        expected = r"cannot date trials in the time zone TZ='<\+25>-25': .* such as UTC"
        with pytest.raises(TrainingError, match=expected), PLAN.open(data):
            pass
    time.tzset()


def test_no_trial_begins_after_the_end(data):
    over = replace(PLAN, until=Deadline(0.0))
    with over.open(data) as study:
        work(over, study, data, lambda: False)
        assert study.begun() == []


def test_diverged_trials_are_counted(data, monkeypatch):
    def diverge(candidates, data, judge, stop):
        for number in range(len(candidates)):
            judge.diverged(number, 1.5)

    monkeypatch.setattr(worker, "evaluate", diverge)
    with PLAN.open(data) as study:
        work(PLAN, study, data, lambda: False)
        assert (study.counts().failed, study.counts().seconds) == (2, 3.0)
