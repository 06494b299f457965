import json

import faulty
import pytest

from graphsct import diagnose, nn
from graphsct.datasets import edge_homophily
from graphsct.diagnosis.diagnosis import WIDTH

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
    assert [finding["kind"] for finding in values["findings"]] == ["dead", "vanishing gradient"]
    assert [layer["number"] for layer in values["layers"]] == [1, 2, 3, 4, 5, 6]
    assert [layer["state"] for layer in values["layers"]] == ["healthy"] * 2 + ["dead"] * 4
    assert len(values["layers"][0]["smoothness"]) == 16
    assert values["layers"][0]["reach"]["position"] > 0
    assert values["thresholds"]["dead"] == 0.9
    assert values["effects"] == []
    assert values["run"] is None
    assert not values["healthy"]


def test_the_text_has_the_verdict_the_advice_and_every_layer(found):
    lines = str(found).splitlines()
    assert lines[0].startswith("Deep on demo")
    assert lines[1] == found.findings[0].text
    assert max(map(len, lines)) <= WIDTH
    text = str(found)
    for layer in found.layers:
        assert layer.name in text
    for advice in found.advice:
        assert advice.change in text
    assert "…" not in text


def test_a_healthy_model_says_so(data):
    found = diagnose(nn.GCN(16, 8, 3, 2), data)
    assert found.healthy
    assert found.states == ("healthy", "healthy")
    assert found.verdict.startswith("healthy")
    assert found.advice == ()
    assert "What to try" not in str(found)
