import re
import threading
import time

import psutil
import pytest

from graphsct import TrainingError
from graphsct.search import Task, search

pytest.importorskip("ray", reason="ray is not installed: there is no cluster to search on")

TASK = Task("demo", "gcn", None, 2, max_hidden=16)


def kill_one_worker(journal):
    while not journal.exists() or b'"worker":' not in journal.read_bytes():
        time.sleep(0.02)
    ours = psutil.Process().children(recursive=True)
    next(process for process in ours if "ray::_work" in " ".join(process.cmdline())).kill()


@pytest.mark.filterwarnings("ignore")  # of ray
def test_two_workers_share_a_study_and_one_that_is_killed_begins_again(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or it leaves a file in the home folder
    killer = threading.Thread(target=kill_one_worker, args=(tmp_path / "journal.jsonl",))
    killer.start()
    found = search(TASK, trials=16, ray="local", workers=2, storage=tmp_path, epochs=40)
    killer.join()
    assert (found.trials, found.failed) == (16, 0)
    assert (tmp_path / "best.json").is_file()
    journal = (tmp_path / "journal.jsonl").read_text()
    workers = set(re.findall(r'"worker":"(\w+)"', journal))
    assert len(workers) >= 2


@pytest.mark.filterwarnings("ignore")  # of ray
def test_no_cluster_is_an_error_that_says_how_to_start_one(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(TrainingError, match=r"no Ray cluster at 'auto'.*ray start --head"):
        search(TASK, trials=1, ray="auto", storage=tmp_path, epochs=5)
