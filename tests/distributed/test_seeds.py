import json

import pytest

from graphsct import TrainingError, datasets
from graphsct.distributed import Part, train, write_partition
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.compare import compare_control
from graphsct.training.folder import RESULTS

MODEL = ModelConfig(depth=2, hidden=8, control="pooled", dropout=0.0)
CONFIG = TrainConfig(epochs=4)


def data():
    """Two splits, so that each seed has its own."""
    found = datasets.csbm(60, 120, num_classes=2, num_components=2, num_features=6, seed=3)
    first = found.splits[0]
    found.splits = [first, datasets.Split(first.val, first.train, first.test)]
    return found


def train_small(folder, place):
    found = train(MODEL, Part.load(folder), CONFIG, range(2), folder=place, compare=True)
    return found.to_dict()


def test_runs_are_those_of_one_process(workers, tmp_path):
    write_partition(data(), tmp_path / "parts", 2)
    first, second = workers.run(2, train_small, tmp_path / "parts", tmp_path / "run")
    alone = compare_control(MODEL, data(), CONFIG, range(2), folder=tmp_path / "alone")
    expected = alone.to_dict()
    for found in (first, second):
        assert found["test_mean"] == pytest.approx(expected["test_mean"])
        assert found["difference_mean"] == pytest.approx(expected["difference_mean"])
        assert [run["split"] for run in found["seeds"]] == [0, 1]
    written = json.loads((tmp_path / "run" / RESULTS).read_text())
    assert written == first


def test_a_folder_of_another_run_is_refused_by_all(workers, tmp_path):
    write_partition(data(), tmp_path / "parts", 2)
    workers.run(2, train_small, tmp_path / "parts", tmp_path / "run")
    answers = workers.attempt(2, train_small, tmp_path / "parts", tmp_path / "run")
    (_, first), (_, second) = answers
    assert "holds a run already; use resume=True" in first
    assert "process 0 could not continue" in second


def test_runs_are_resumed_and_watched(alone, tmp_path):
    write_partition(data(), tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    options = dict(folder=tmp_path / "run", tensorboard=True)
    found = train(MODEL, part, CONFIG, range(1), **options)
    again = train(MODEL, part, CONFIG, range(1), resume=True, **options)
    assert again.results.runs == found.results.runs
    assert len(list((tmp_path / "run").rglob("events.out.tfevents.*"))) == 1
    with pytest.raises(TrainingError, match="no control to compare"):
        train(ModelConfig(), part, CONFIG, [0], folder=tmp_path / "other", compare=True)
