import json

import pytest

from graphsct import datasets
from graphsct.errors import ExperimentError
from graphsct.paper.cell import Key
from graphsct.paper.model_times import measure_models, read_models

MODELS = [(Key("demo", "gcn", None, 2), 8), (Key("demo", "egnn", "gated", 2, "srelu"), 4)]


@pytest.fixture
def measure(tmp_path):
    def go(models=MODELS):
        return list(measure_models(models, load=lambda *_: datasets.demo(), out=tmp_path))

    return go


def test_times_are_measured_kept_and_not_measured_again(measure, tmp_path):
    first = measure(MODELS[:1])
    assert [(row.key, row.hidden) for row in first] == MODELS[:1]
    assert first[0].training_seconds > 0 and first[0].inference_milliseconds > 0
    assert 100 < first[0].epochs <= 1500
    second = measure()
    assert [(row.key, row.hidden) for row in second] == MODELS[1:]
    assert read_models(tmp_path) == first + second
    content = json.loads((tmp_path / "times" / "sizes.json").read_text())
    assert content["command"] == "graphsct reproduce table6" and content["threads"] >= 1
    assert measure() == []


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "times").mkdir()
    (tmp_path / "times" / "sizes.json").write_text("{}")
    with pytest.raises(ExperimentError, match=r"sizes\.json has no times"):
        read_models(tmp_path)
