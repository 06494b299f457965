from together import FAST, TASK, TRIALS, check_nothing_lost_or_counted_twice, kill_one_of_two

from graphsct.datasets import demo
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan


def test_of_two_processes_on_one_folder_one_is_killed_in_mid_trial(tmp_path):
    data = BlindData.of(demo())
    plan = Plan(TASK, TRIALS, seed=0, runs=2, **FAST, until=None, folder=tmp_path)
    with plan.open(data) as study:
        had = kill_one_of_two(study, [tmp_path, tmp_path])
        check_nothing_lost_or_counted_twice(study, had, tmp_path)
