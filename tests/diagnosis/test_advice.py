import pytest
import torch
from torch_geometric.nn import GAT, GCN, GraphSAGE

from graphsct import diagnose, nn
from graphsct.diagnosis import advice
from graphsct.diagnosis.advice import Patient, advise, sound_depth
from graphsct.diagnosis.verdict import Finding

pytestmark = pytest.mark.usefixtures("seed")


def advice_for(model, data, kind="over-smoothed", layers=(3, 4)):
    layers_found = diagnose(model, data, rival=False, reach=False).layers
    patient = Patient(model, layers_found, [Finding(kind, layers, "")], data.graph.num_components)
    return {one.name: one for one in advise(patient)}


def test_nothing_to_try_against_nothing(data):
    model = nn.GCN(16, 8, 3, 4)
    assert advise(Patient(model, diagnose(model, data).layers, [], 3)) == ()


def test_the_numbers_of_the_model_are_filled_in(data):
    found = advice_for(nn.GCN(16, 8, 3, 8, init="glorot"), data, layers=(4, 5))
    assert set(found) == {"gcnii", "batch_norm", "shallower", "identity", "sct_pooled"}
    assert "num_layers=8" in found["gcnii"].change
    assert found["shallower"].change == "num_layers=3"
    assert found["sct_pooled"].change.endswith('"pooled", num_components=3)')


def test_what_is_in_place_is_not_advised(data):
    found = advice_for(nn.GCN(16, 8, 3, 8, init="identity"), data)
    assert "identity" not in found
    controlled = nn.GCN(16, 8, 3, 8, init="identity", control="pooled", num_components=3)
    assert "sct_pooled" not in advice_for(controlled, data)
    assert "gcnii" not in advice_for(nn.GCNII(16, 8, 3, 8), data)
    assert "batch_norm" not in advice_for(nn.GCN(16, 8, 3, 8, norm="BatchNorm"), data)


def test_a_line_names_a_weight_that_the_model_has(data):
    model = GCN(16, 16, 4, 3)
    line = advice_for(model, data)["identity"].change
    assert line.startswith('torch.nn.init.eye_(model.get_parameter("convs.0.lin.weight"))')
    exec(line, {"torch": torch, "model": model})
    assert torch.equal(model.convs[0].lin.weight, torch.eye(16))


@pytest.mark.parametrize("kind", [GraphSAGE, GAT])
def test_layers_with_other_weights_get_no_identity(data, kind):
    found = advice_for(kind(16, 8, 4, 3), data)
    if kind is GraphSAGE:  # two matrices, of which neither alone is the map of a layer
        assert "identity" not in found
    assert "batch_norm" in found


def test_what_made_models_worse_is_not_advised(monkeypatch, data):
    model = GraphSAGE(16, 8, 4, 3)
    assert advice._measured()["gains"]["residual"]["gain"] < 0
    assert "residual" not in advice_for(model, data)
    monkeypatch.setattr(advice, "_measured", lambda: {"on": "nothing", "gains": {}})
    found = advice_for(model, data)["residual"]
    assert found.change.startswith("x = conv(x, edge_index)")
    assert found.evidence == "not measured"


def test_longer_training_only_if_nothing_is_wrong_inside(data):
    model = nn.GCN(16, 8, 3, 2)
    layers = diagnose(model, data, rival=False).layers
    under, smooth = Finding("underfits", (), ""), Finding("over-smoothed", (2,), "")
    assert [one.name for one in advise(Patient(model, layers, [under], 3))] == ["longer"]
    both = advise(Patient(model, layers, [under, smooth], 3))
    assert "longer" not in [one.name for one in both]


def test_every_advice_has_its_evidence(data):
    for one in advice_for(nn.GCN(16, 8, 3, 8, init="glorot"), data).values():
        assert "points of test accuracy (95 % interval" in one.evidence
        assert one.to_dict() == vars(one)


@pytest.mark.parametrize(
    ("first", "depth", "expected"), [(6, 32, 5), (1, 32, 4), (2, 32, 4), (30, 32, 4), (3, 3, 1)]
)
def test_depth_before_the_first_bad_layer(first, depth, expected):
    assert sound_depth([Finding("dead", (first,), "")], depth) == expected
    whole = Finding("underfits", (), "")
    assert sound_depth([whole, Finding("dead", (first,), "")], depth) == expected
