import json
import os
import signal
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from shapes import shapes
from together import PROCESSES, press_ctrl_c, slow_down

from graphsct import TrainingError, datasets
from graphsct.search import Found, Task, search
from graphsct.search.progress import SearchProgress

TASK = Task("demo", "gcn", None, 2, max_hidden=16)
FAST = {"epochs": 12, "patience": 12}


def tried(folder):
    rows = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def test_it_finds_what_its_trials_gave_and_writes_it_down(tmp_path):
    found = search(TASK, trials=6, storage=tmp_path, **FAST)
    assert (found.trials, found.seeds_per_trial, found.interrupted) == (6, 2, False)
    assert (found.train.epochs, found.train.select) == (12, "val_score")
    rows = tried(tmp_path)
    assert len(rows) == 6
    assert found.score == max(row["val_score"] for row in rows)
    written = json.loads((tmp_path / "best.json").read_text())
    assert Found.from_dict(written) == found
    assert "torch" in written["versions"]


def test_data_by_the_name_of_a_file_are_shared_by_all_processes(tmp_path):
    data = datasets.demo()
    names = ("train_masks", "val_masks", "test_masks")
    masks = dict(zip(names, (mask.numpy()[None] for mask in data.splits[0]), strict=True))
    graph = dict(edges=data.edge_index.t(), node_features=data.x, node_labels=data.y)
    np.savez(tmp_path / "whole.npz", **graph, **masks)
    task = replace(TASK, data=str(tmp_path / "whole.npz"))
    found = search(task, trials=2, workers=2, storage=tmp_path / "study", **FAST)
    assert found.trials == 2
    assert found.task.data.endswith("whole.npz")


def test_whether_rows_sum_to_one_is_tried_unless_it_is_said(tmp_path):
    found = search(TASK, trials=8, storage=tmp_path / "open", **FAST)
    best = max(tried(tmp_path / "open"), key=lambda row: (row["val_score"], -row["val_loss"]))
    assert {row["normalize"] for row in tried(tmp_path / "open")} == {False, True}
    assert found.normalize is best["normalize"]
    said = search(replace(TASK, normalize=True), trials=2, storage=tmp_path / "said", **FAST)
    assert said.normalize
    assert all("normalize" not in row for row in tried(tmp_path / "said"))


def test_the_same_seed_tries_the_same_and_another_does_not(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder, seed in zip(folders, (0, 0, 1), strict=True):
        search(TASK, trials=8, storage=folder, seed=seed, **FAST)
    first, same, other = map(tried, folders)
    assert first == same
    assert first[4:] != other[4:]


def test_the_device_of_the_data_changes_nothing(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder, device in zip(folders, (None, "cpu"), strict=True):
        search(TASK, trials=4, storage=folder, device=device, **FAST)
    assert tried(folders[0]) == tried(folders[1])
    with pytest.raises(TrainingError, match=r"device is 'cdua', which is not available here"):
        search(TASK, trials=4, storage=tmp_path / "c", device="cdua", **FAST)
    assert not (tmp_path / "c").exists()


def test_a_study_in_parts_is_the_whole_study(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    search(TASK, trials=8, storage=whole, **FAST)
    search(TASK, trials=4, storage=parts, **FAST)
    assert search(TASK, trials=8, storage=parts, **FAST).trials == 8
    assert tried(parts) == tried(whole)


@pytest.mark.parametrize("select", ["val_score", "val_loss"])
def test_labels_of_test_nodes_change_nothing(tmp_path, select):
    task = replace(TASK, select=select)
    data = datasets.demo()
    other = data.clone()
    other.y = torch.where(data.test_mask, (data.y + 1) % 3, data.y)
    search(task, trials=5, data=data, storage=tmp_path / "a", **FAST)
    search(task, trials=5, data=other, storage=tmp_path / "b", **FAST)
    assert tried(tmp_path / "a") == tried(tmp_path / "b")


def test_runs_of_data_with_several_splits_use_them_all():
    data = datasets.demo()
    rolled = [datasets.Split(*(mask.roll(shift) for mask in data.splits[0])) for shift in range(3)]
    data.splits = rolled
    assert search(TASK, trials=1, data=data, **FAST).seeds_per_trial == 3


def test_other_settings_are_refused_and_harm_nothing(tmp_path):
    search(TASK, trials=2, storage=tmp_path, **FAST)
    before = (tmp_path / "journal.jsonl").read_bytes()
    for change, message in [
        ({"task": replace(TASK, select="val_loss")}, r"task\.select is 'val_score' there"),
        ({"epochs": 13}, "epochs is 12 there, 13 here"),
        ({"runs": 3}, "runs is 2 there, 3 here"),
        ({"task": replace(TASK, max_hidden=32)}, r"space\.hidden is \[16\] there"),
        ({"data": datasets.csbm(300, 900, num_classes=3, num_features=16)}, r"data\.features"),
    ]:
        with pytest.raises(TrainingError, match=message):
            search(**{"task": TASK, "trials": 4, "storage": tmp_path, **FAST, **change})
    assert (tmp_path / "journal.jsonl").read_bytes() == before


def test_time_is_up(tmp_path):
    with pytest.raises(TrainingError, match="allow more trials or more time"):
        search(TASK, trials=5, storage=tmp_path, seconds=0.0, **FAST)
    assert search(TASK, trials=3, storage=tmp_path, seconds=60.0, **FAST).trials == 3


def test_ctrl_c_before_the_end_of_a_trial_leaves_nothing_to_return(tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(SearchProgress, "__call__", press_ctrl_c("trials", 0))
        search(TASK, trials=6, storage=tmp_path, **FAST)
    assert search(TASK, trials=6, storage=tmp_path, **FAST).trials == 6


def test_ctrl_c_gives_trials_back(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(SearchProgress, "__call__", press_ctrl_c("trials", 2))
        found = search(TASK, trials=6, storage=tmp_path, **FAST)
    assert found.interrupted
    assert 2 <= found.trials < 6
    again = search(TASK, trials=6, storage=tmp_path, **FAST)
    assert (again.trials, again.failed, again.interrupted) == (6, 0, False)


def slowly(folder):
    slow_down()
    search(TASK, trials=60, storage=folder, **FAST)


def test_a_killed_worker_loses_nothing(tmp_path):
    process = PROCESSES.Process(target=slowly, args=(tmp_path,))
    process.start()
    journal = tmp_path / "journal.jsonl"
    ended = partial(journal_count, journal, b'"state":1')
    while not journal.exists() or ended() < 3:
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    before = ended()
    found = search(TASK, trials=12, storage=tmp_path, **FAST)
    assert (found.trials, found.failed) == (12, 0)
    rows = tried(tmp_path)
    assert len({row["trial"] for row in rows}) == 12
    assert b'"again"' in journal.read_bytes()  # the trials under way were begun again
    assert len(rows) - before >= 1


def journal_count(journal, mark):
    return journal.read_bytes().count(mark)


def test_lists_of_graphs_are_searched(tmp_path):
    graphs = datasets.from_graphs(shapes(24), split=datasets.Fractions())
    task = Task("shapes", "gcn", "gated", 2, max_hidden=16)
    found = search(task, trials=2, runs=1, data=graphs, storage=tmp_path, epochs=3, patience=3)
    assert found.trials == len(tried(tmp_path)) == 2
    assert found.model.build(graphs).readout.mode == "mean"
