import signal
import threading
import time
from functools import cache
from pathlib import Path

import psutil
import pytest
from together import TASK, TRIALS, check_nothing_lost_or_counted_twice, is_running

from graphsct import TrainingError
from graphsct.datasets import demo
from graphsct.paper.cell import Key
from graphsct.paper.reproduce import Budget, run_cells
from graphsct.search import search
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan

ray = pytest.importorskip("ray", reason="ray is not installed: there is no cluster to search on")

pytestmark = pytest.mark.filterwarnings("ignore")  # of ray

LONG = {"epochs": 300, "patience": 300}  # so that a trial can be caught under way


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or it leaves a file in the home folder
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")  # or it kills workers by itself
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


class Killer(threading.Thread):
    """Kills one of Ray's workers while it has trials under way."""

    def __init__(self, study, folder):
        super().__init__(daemon=True)
        self.study, self.folder = study, folder
        self.had = []
        self.over = False

    def run(self):
        while not self.had and not self.over:
            for worker in {t.user_attrs["worker"] for t in self.study.trials() if is_running(t)}:
                self.try_to_kill(worker)
            time.sleep(0.01)

    def try_to_kill(self, worker):
        process = holder(self.folder / ".workers" / worker)
        if process is None or self.had:
            return
        process.send_signal(signal.SIGSTOP)  # so that nothing ends while we look
        self.had = [t.number for t in self.study.trials() if is_running(t, worker)]
        process.send_signal(signal.SIGKILL if self.had else signal.SIGCONT)


def holder(path):
    """The process below this one that has a file open."""
    for process in psutil.Process().children(recursive=True):
        try:
            if any(file.path == str(path) for file in process.open_files()):
                return process
        except psutil.Error:  # it has just ended
            continue
    return None


def test_of_two_workers_one_is_killed_in_mid_trial(tmp_path):
    plan = Plan(TASK, TRIALS, seed=0, runs=2, **LONG, until=None, folder=tmp_path)
    with plan.open(BlindData.of(demo())) as study:
        killer = Killer(study, tmp_path)
        killer.start()
        try:
            found = search(TASK, trials=TRIALS, ray="local", workers=2, storage=tmp_path, **LONG)
        finally:
            killer.over = True
            killer.join()
        assert (found.trials, found.failed) == (TRIALS, 0)
        check_nothing_lost_or_counted_twice(study, killer.had, tmp_path)
    names = {trial.user_attrs.get("worker") for trial in study.trials()}
    assert len(names) >= 2  # whoever took its place has another name


def test_cells_are_searched_on_a_cluster(tmp_path):
    budget = Budget(seeds=1, trials=2, max_hidden=16, workers=2, ray="local")
    key = Key("demo", "gcn", None, 2)
    (outcome,) = run_cells(
        [key],
        budget,
        load=lambda name, normalize: demo(),
        known={},
        out=tmp_path / "out",
        work=tmp_path / "work",
        table="table1",
    )
    assert outcome.stored is not None, outcome.reason
    assert outcome.stored.found.trials == 2
    assert outcome.stored.command.endswith("--trials 2 --max-hidden 16 --workers 2")


def test_workers_execute_no_module_of_the_current_folder(tmp_path, monkeypatch):
    for name in ("graphsct", "queue"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a')\n")
    monkeypatch.chdir(tmp_path)
    found = search(TASK, trials=1, ray="local", workers=1, storage="study", epochs=2)
    assert (found.trials, found.failed) == (1, 0)
    assert not (tmp_path / "executed").exists()
    assert Path.cwd() == tmp_path


def test_no_cluster_is_an_error_that_says_how_to_start_one(tmp_path, monkeypatch):
    # Ray looks among all processes of the machine, and the cluster of the last test may linger.
    monkeypatch.setattr(ray._private.services, "find_gcs_addresses", cache(lambda: set()))
    monkeypatch.setattr(ray._private.services, "find_bootstrap_address", lambda temp_dir: None)
    with pytest.raises(TrainingError, match=r"no Ray cluster at 'auto'.*ray start --head"):
        search(TASK, trials=1, ray="auto", storage=tmp_path, epochs=5)


def test_a_wrong_address_is_one_line(tmp_path):
    with pytest.raises(TrainingError, match=r"Ray does not start at 'nonsense': Invalid address"):
        search(TASK, trials=1, ray="nonsense", storage=tmp_path, epochs=5)
