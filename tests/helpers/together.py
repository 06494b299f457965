"""Two independent processes on one study, of which one is killed in mid-trial."""

import json
import os
import signal
import time

from processes import PROCESSES

from graphsct.search import Task, search
from graphsct.training.runner import Runner

TASK = Task("demo", "gcn", None, 2, max_hidden=16)
FAST = {"epochs": 12, "patience": 12}
TRIALS = 16


def slow_down():
    """Make every epoch so slow that no machine ends a trial before it can be killed."""
    epochs = Runner.epochs

    def slow(*args):
        for each in epochs(*args):
            time.sleep(0.02)
            yield each

    Runner.epochs = slow


def slowly(storage, database):
    slow_down()
    search(TASK, trials=TRIALS, storage=storage, database=database, **FAST)


def kill_one_of_two(study, folders, database=None):
    """Run two processes, kill the first when both have trials and wait for the second.

    Args:
        study: opened by this process, to look on
        folders: one for each process; the same for a journal
        database: address
    """
    both = [PROCESSES.Process(target=slowly, args=(folder, database)) for folder in folders]
    first, second = both
    first.start()
    wait_for(lambda: len(running(study)) == 1, both)
    (victim,) = running(study)
    second.start()
    wait_for(lambda: len(running(study) - {victim}) == 1, both)
    had = []

    def caught():
        os.kill(first.pid, signal.SIGSTOP)  # so that what it has is sure to be under way
        had.extend(t.number for t in study.trials() if is_running(t, victim))
        if not had:  # it was between two groups
            os.kill(first.pid, signal.SIGCONT)
        return had

    wait_for(caught, both)
    os.kill(first.pid, signal.SIGKILL)
    first.join()
    second.join(120)
    assert second.exitcode == 0
    return had


def check_nothing_lost_or_counted_twice(study, had, folder):
    """After the kill of a process that had some trials."""
    assert had
    begun_again = {trial.user_attrs.get("again") for trial in study.trials()}
    assert set(had) <= begun_again
    assert study.counts().trials == TRIALS
    assert study.counts().failed == 0
    rows = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert len({row["trial"] for row in rows}) == len(rows) == TRIALS
    assert not {row["trial"] for row in rows} & set(had)
    settings = [json.dumps(study.chosen(trial.params)) for trial in study.begun()]
    assert len(set(settings)) == TRIALS
    assert json.loads((folder / "best.json").read_text())["trials"] == TRIALS


def is_running(trial, worker=None):
    there = trial.user_attrs.get("worker")
    return trial.state.name == "RUNNING" and there is not None and worker in (None, there)


def running(study):
    """Names of the processes that have trials."""
    return {trial.user_attrs["worker"] for trial in study.trials() if is_running(trial)}


def press_ctrl_c(name, count):
    """What to put in place of a progress bar, to press it when a study has so many of something."""

    def press(self, study):
        if getattr(study.counts(), name) == count:
            os.kill(os.getpid(), signal.SIGINT)

    return press


def wait_for(condition, processes=()):
    limit = time.monotonic() + 120
    while not condition():
        assert all(p.exitcode in (None, 0) for p in processes if p.pid is not None)
        assert time.monotonic() < limit
        time.sleep(0.02)
