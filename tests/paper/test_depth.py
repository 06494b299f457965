import json

import pytest

from graphsct import datasets
from graphsct.paper.depth import MODEL, run_depths
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import run_seeds

CONFIG = TrainConfig(epochs=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("depth")


@pytest.fixture(scope="module")
def study(folder):
    return run_depths(datasets.demo(), folder, seeds=2, config=CONFIG, depths=(2, 3))


def test_every_rule_and_depth_with_and_without_control(study):
    assert list(study.found) == [
        ("val_loss", 2),
        ("val_loss", 3),
        ("val_score", 2),
        ("val_score", 3),
    ]
    config = TrainConfig(epochs=8, select="val_score")
    expected = run_seeds(ModelConfig(hidden=16, depth=3), datasets.demo(), config, range(2))
    plain = study.found["val_score", 3].without
    assert [run.history for run in plain.runs] == [run.history for run in expected.runs]
    assert study.found["val_score", 3].results.model.control == MODEL.control == "pooled"


def test_columns_hold_every_run(study):
    columns = study.columns()
    assert {len(column) for column in columns.values()} == {2 * 2 * 2 * 2}
    first = study.found["val_loss", 2].results.runs[1]
    assert columns["test_score"][1] == first.test_score
    assert (columns["control"][1], columns["control"][2]) == ("pooled", "none")


def test_each_has_a_run_folder_and_can_be_run_again(study, folder):
    place = folder / "val_loss-depth-3"
    assert json.loads((place / "config.json").read_text())["model"]["depth"] == 3
    again = run_depths(datasets.demo(), folder, seeds=2, config=CONFIG, depths=(2, 3))
    assert again.columns() == study.columns()
