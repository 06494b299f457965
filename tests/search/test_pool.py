import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from graphsct import TrainingError
from graphsct.datasets import demo
from graphsct.search import Task, pool, search
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan

TASK = Task("demo", "gcn", None, 2, max_hidden=16)


def kill_one_child(journal, others):
    while not journal.exists() or b'"worker":' not in journal.read_bytes():
        time.sleep(0.02)
    mine = [child for child in multiprocessing.active_children() if child not in others]
    os.kill(mine[0].pid, signal.SIGKILL)


def test_two_workers_share_a_study_and_one_that_is_killed_is_replaced(tmp_path):
    args = (tmp_path / "journal.jsonl", multiprocessing.active_children())
    killer = threading.Thread(target=kill_one_child, args=args)
    killer.start()
    found = search(TASK, trials=24, workers=2, storage=tmp_path, epochs=60)
    killer.join()
    assert (found.trials, found.failed) == (24, 0)


@pytest.fixture
def plan(tmp_path):
    return Plan(TASK, 4, seed=0, runs=1, epochs=5, patience=5, until=None, folder=tmp_path)


def test_what_ends_a_worker_ends_all_and_is_told_once(plan, tmp_path, capfd):
    (tmp_path / "thesis.tex").write_text("mine")  # so that they refuse the folder
    with pytest.raises(TrainingError, match=r"is not empty and is not a study"):
        pool.run_pool(plan, BlindData.of(demo()), 2, lambda: False, lambda: None)
    assert "Traceback" not in capfd.readouterr().err


def test_workers_that_are_killed_too_often_end_it(plan, monkeypatch):
    monkeypatch.setattr(pool, "_ACCIDENTS", 0)

    def kill():
        for child in set(multiprocessing.active_children()) - others:
            child.kill()

    others = set(multiprocessing.active_children())
    with pytest.raises(TrainingError, match=r"1 workers ended unexpectedly.*fewer than workers=1"):
        endless = replace(plan, trials=10**6)
        pool.run_pool(endless, BlindData.of(demo()), 1, lambda: False, kill)
