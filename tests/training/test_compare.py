import json
import os
import shutil
import signal
from contextlib import contextmanager

import pytest
import torch

from graphsct import DataError, ModelError, TrainingError, datasets
from graphsct.training import ModelConfig, TrainConfig, compare
from graphsct.training.compare import compare_control
from graphsct.training.progress import Progress
from graphsct.training.seeds import run_seeds, train_seeds

MODEL = ModelConfig(hidden=8, control="pooled")
CONFIG = TrainConfig(epochs=12)


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


@pytest.fixture
def press_at(monkeypatch):
    """A context in which somebody presses Ctrl-C at an epoch."""

    @contextmanager
    def during(epoch):
        def press(self, record):
            if record.epoch == epoch:
                os.kill(os.getpid(), signal.SIGINT)

        with monkeypatch.context() as patch:
            patch.setattr(Progress, "__call__", press)
            yield

    return during


def test_the_same_model_with_and_without(data, tmp_path):
    found = compare_control(MODEL, data, CONFIG, range(3), folder=tmp_path)
    plain = run_seeds(ModelConfig(hidden=8), data, CONFIG, range(3))
    assert [run.history for run in found.without.runs] == [run.history for run in plain.runs]
    assert found.differences == [
        a.test_score - b.test_score for a, b in zip(found.results.runs, plain.runs, strict=True)
    ]
    written = json.loads((tmp_path / "results.json").read_text())
    assert written == json.loads(json.dumps(found.to_dict()))
    assert written["without_control"]["model"]["control"] is None
    assert written["difference_mean"] == pytest.approx(sum(found.differences) / 3)
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings["model"] == MODEL.to_dict()
    assert settings["versions"]["threads"] == 1


def test_alone(data, tmp_path):
    found = compare_control(MODEL, data, CONFIG, range(1), folder=tmp_path, compare=False)
    assert found.without is None
    assert found.differences == []
    assert "without_control" not in found.to_dict()
    assert len(found.to_dict(history=True)["history"][0]) == 12


def test_no_control_to_compare_with(data, tmp_path):
    with pytest.raises(TrainingError, match="no control to compare with"):
        compare_control(ModelConfig(), data, CONFIG, range(1), folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_ctrl_c_ends_everything_and_resume_goes_on(data, tmp_path, press_at):
    expected = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path / "whole")
    with press_at(7):
        found = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path / "cut")
    assert found.interrupted
    assert [run.epochs for run in found.results.runs] == [7, 7]
    assert found.without is None
    again = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path / "cut", resume=True)
    assert not again.interrupted
    assert again.differences == pytest.approx(expected.differences)
    pairs = zip(again.results.runs, expected.results.runs, strict=True)
    for one, other in pairs:  # resumed runs go on one by one: the same up to rounding
        assert torch.allclose(torch.tensor(one.history), torch.tensor(other.history), rtol=1e-3)


def test_bad_data_and_models_delete_nothing(data, tmp_path):
    compare_control(MODEL, data, CONFIG, range(1), folder=tmp_path, compare=False)
    before = (tmp_path / "seed-0" / "run.json").read_bytes()
    wrong = data.clone()
    wrong.x = data.x.clone()
    wrong.x[0, 0] = torch.nan
    with pytest.raises(DataError, match="feature 0 of node 0 is nan"):
        compare_control(MODEL, wrong, CONFIG, range(1), folder=tmp_path, force=True)
    with pytest.raises(ModelError, match="dropout is 2"):
        model = ModelConfig(dropout=2.0, control="gated")
        compare_control(model, data, CONFIG, range(1), folder=tmp_path, force=True)
    assert (tmp_path / "seed-0" / "run.json").read_bytes() == before


@pytest.fixture
def press_before(monkeypatch):
    """Somebody presses Ctrl-C before the first epoch of the ``number``-th part of a comparison."""

    def before(number):
        calls = []

        def press(*args, **options):
            calls.append(args)
            if len(calls) == number:
                os.kill(os.getpid(), signal.SIGINT)
            return train_seeds(*args, **options)

        monkeypatch.setattr(compare, "train_seeds", press)

    return before


def test_ctrl_c_before_the_first_epoch(data, tmp_path, press_before):
    press_before(1)
    with pytest.raises(KeyboardInterrupt):
        compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path)
    found = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path, resume=True)
    assert len(found.pairs) == 2


def test_ctrl_c_before_the_first_epoch_without_control(data, tmp_path, press_before):
    press_before(2)
    found = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path)
    assert found.interrupted
    assert (len(found.results.finished), found.without) == (2, None)


def test_ctrl_c_in_the_last_epoch_of_the_first_part(data, tmp_path, press_at):
    with press_at(CONFIG.epochs):
        found = compare_control(MODEL, data, CONFIG, range(2), folder=tmp_path)
    assert found.interrupted
    assert (len(found.results.finished), found.without) == (2, None)


def test_pairs_have_the_same_seed_after_ctrl_c(data, tmp_path, press_at):
    whole = compare_control(MODEL, data, CONFIG, range(3), folder=tmp_path)
    shutil.rmtree(tmp_path / "without-control" / "seed-0")
    with press_at(3):
        found = compare_control(MODEL, data, CONFIG, range(3), folder=tmp_path, resume=True)
    assert [run.interrupted for run in found.without.runs] == [True, False, False]
    assert [[run.config.seed for run in pair] for pair in found.pairs] == [[1, 1], [2, 2]]
    assert found.differences == whole.differences[1:]
    assert found.to_dict()["difference_seeds"] == [1, 2]


def test_an_interrupted_run_is_kept_but_not_averaged(data, tmp_path, press_at):
    compare_control(MODEL, data, CONFIG, range(4), folder=tmp_path, compare=False)
    for seed in (2, 3):
        shutil.rmtree(tmp_path / f"seed-{seed}")
    with press_at(3):
        found = compare_control(
            MODEL, data, CONFIG, range(4), folder=tmp_path, compare=False, resume=True
        )
    assert [run.interrupted for run in found.results.runs] == [False, False, True, True]
    first = [run.test_score for run in found.results.runs[:2]]
    assert found.results.test_mean == sum(first) / 2
    written = json.loads((tmp_path / "results.json").read_text())
    assert [row["interrupted"] for row in written["seeds"]] == [False, False, True, True]
