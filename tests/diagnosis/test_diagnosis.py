import json
import sys
from dataclasses import replace

import faulty
import pytest
from runs import make_run

from graphsct import diagnose, fit, nn
from graphsct.datasets import edge_homophily
from graphsct.diagnosis import Diagnosis, Effect
from graphsct.diagnosis.diagnosis import WIDTH
from graphsct.errors import MissingExtraError, TrainingError
from graphsct.training import Epoch, TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def found(data):
    return diagnose(faulty.dead(), data)


def test_plain_values_are_complete_and_json(found, data):
    values = json.loads(found.to_json())
    assert values == json.loads(json.dumps(found.to_dict()))
    graph = values["graph"]
    assert (graph["nodes"], graph["edges"], graph["components"]) == (300, 900, 3)
    assert graph["homophily"] == edge_homophily(data.edge_index, data.y)
    assert values["verdict"] == found.verdict
    kinds = [finding["kind"] for finding in values["findings"] if finding["layers"]]
    assert kinds == ["dead", "vanishing gradient"]
    assert [layer["number"] for layer in values["layers"]] == [1, 2, 3, 4, 5, 6]
    assert [layer["state"] for layer in values["layers"]] == [
        *["vanishing gradient"] * 2,
        *["dead, vanishing gradient"] * 3,
        "dead",
    ]
    assert len(values["layers"][0]["smoothness"]) == 16
    assert values["layers"][0]["reach"]["position"] > 0
    assert values["thresholds"]["dead"] == 0.8
    assert values["effects"] == []
    assert values["run"] is None
    assert not values["healthy"]


def test_it_is_read_back_from_its_json(found, data):
    assert Diagnosis.from_dict(found.to_dict()) == found
    assert Diagnosis.from_json(found.to_json()) == found
    run, other = (make_run(0.5, history=(Epoch(1, 0.9, 0.8, 0.5, 0.25),)) for _ in range(2))
    effects = (Effect("as it is", (run, other), (0.0, 0.0)),)
    whole = replace(found, run=run, effects=effects, untried={"identity": "a reason"})
    read = Diagnosis.from_json(whole.to_json())
    assert read.run == run
    without = tuple(replace(each, history=()) for each in effects[0].runs)
    assert read == replace(whole, effects=(replace(effects[0], runs=without),))
    assert str(read) == str(whole)


def test_a_wrong_value_is_named(found):
    values = found.to_dict()
    values["layers"][1]["norm"] = "large"
    with pytest.raises(TrainingError, match=r"layers\[1\].norm is 'large', expected a number"):
        Diagnosis.from_dict(values)


def test_in_a_notebook_every_value_is_escaped(found):
    layer = replace(found.layers[0], name="<i> in a long name")
    html = replace(found, data="<b>", layers=(layer, *found.layers[1:]))._repr_html_()
    assert "Deep on &lt;b&gt;: 300 nodes" in html
    assert "layers 3-6: dead (" in html
    assert "&lt;i&gt; in a long name" in html
    assert "convs.5" in html
    assert "<b>" not in html
    assert "<i>" not in html


def test_a_frame_has_one_row_per_layer(found):
    pytest.importorskip("pandas", reason="the extra frame is not installed")
    frame = found.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["state"].tolist() == list(found.states)
    assert frame["norm"].tolist() == [layer.norm for layer in found.layers]


def test_a_frame_names_its_extra(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pandas is not .*graphsct\[frame\]"):
        found.to_frame()


def test_the_text_has_the_verdict_the_advice_and_every_layer(found):
    lines = str(found).splitlines()
    assert lines[0].startswith("Deep on demo")
    assert lines[1].startswith("The model does not work: accuracy 33.3 % on validation")
    assert found.findings[0].text in lines
    assert max(map(len, lines)) <= WIDTH
    text = str(found)
    for layer in found.layers:
        assert layer.name in text
    for advice in found.advice:
        assert advice.change in text
    assert "…" not in text


def test_a_healthy_model_says_so(data):
    model = nn.GCN(16, 8, 3, 2)
    fit(model, data, TrainConfig(epochs=150))
    found = diagnose(model, data)
    assert found.healthy
    assert found.works
    assert found.states == ("ok", "ok")
    first, second = found.verdict.splitlines()
    assert first.startswith("The model works: accuracy")
    assert second.startswith("no over-smoothing found")
    assert found.advice == ()
    assert "What to try" not in str(found)


def test_without_a_rival_no_model_is_said_to_work(data):
    model = nn.GCN(16, 8, 3, 2)
    fit(model, data, TrainConfig(epochs=150))
    found = diagnose(model, data, rival=False)
    assert found.verdict.startswith("The model does better than guessing: accuracy")
