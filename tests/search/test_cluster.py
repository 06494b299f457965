import pytest

from graphsct import TrainingError
from graphsct.search import Task, search

pytest.importorskip("ray", reason="ray is not installed: there is no cluster to search on")

TASK = Task("demo", "gcn", None, 2, max_hidden=16)


@pytest.mark.filterwarnings("ignore")  # of ray
def test_two_workers_of_a_local_cluster_share_a_study(tmp_path):
    found = search(TASK, trials=8, ray="local", workers=2, storage=tmp_path, epochs=20)
    assert (found.trials, found.failed) == (8, 0)
    assert (tmp_path / "best.json").is_file()


@pytest.mark.filterwarnings("ignore")  # of ray
def test_no_cluster_is_an_error_that_says_how_to_start_one(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(TrainingError, match=r"no Ray cluster at 'auto'.*ray start --head"):
        search(TASK, trials=1, ray="auto", storage=tmp_path, epochs=5)
