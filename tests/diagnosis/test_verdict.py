import faulty
import pytest
import torch

from graphsct import datasets, diagnose, fit, nn
from graphsct.diagnosis import Finding, Thresholds
from graphsct.training import TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


def kinds(model, data):
    found = diagnose(model, data, rival=False, reach=False)
    return {finding.kind: finding for finding in found.inside}


def sound(model, data):
    """Whether there are no findings inside of a model, trained or not."""
    return not kinds(model, data)


def test_features_that_converge_to_the_eigenspace(data):
    found = kinds(faulty.over_smoothed(), data)
    assert list(found) == ["over-smoothed"]
    assert found["over-smoothed"].layers[-1] == 50
    assert found["over-smoothed"].layers[0] > 5
    assert "of the norm tells nodes apart" in found["over-smoothed"].text


def test_features_that_converge_to_constants(data):
    found = diagnose(faulty.averaged(), data, reach=False)
    assert found.inside[0].kind == "over-smoothed"
    assert 50 in found.inside[0].layers
    last = found.layers[-1]
    assert last.relative_distance > 5 * last.contrast  # not near the eigenspace, and yet the same


def test_dead_layers_from_the_one_that_kills(data):
    found = kinds(faulty.dead(), data)
    assert list(found) == ["dead", "vanishing gradient"]
    assert found["dead"].layers == (3, 4, 5, 6)
    assert found["vanishing gradient"].layers == (1, 2, 3, 4, 5)
    assert found["dead"].text.startswith("layers 3-6: dead (all 16 dimensions are zero")
    assert "exactly zero" in found["vanishing gradient"].text


def test_faded_layers(data):
    found = kinds(faulty.faded(), data)
    assert list(found) == ["faded", "vanishing gradient"]
    assert found["faded"].layers == (2, 3, 4, 5, 6)


def test_collapsed_layers(cora):
    found = kinds(collapsed_on(cora), cora)
    assert found["collapsed"].layers == (2, 3, 4)
    assert "nodes differ in 1.0 of 16 directions" in found["collapsed"].text


def collapsed_on(data):
    class Narrow(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.input, self.inner = torch.nn.Linear(data.num_features, 16), faulty.collapsed()

        def forward(self, x, edge_index):
            return self.inner(self.input(x), edge_index)

    return Narrow()


def test_two_or_three_classes_need_no_more_than_one_direction(data):
    assert "collapsed" not in kinds(faulty.collapsed(), data)


def test_vanishing_gradients_in_sound_features(data):
    found = kinds(faulty.starved(), data)
    assert list(found) == ["vanishing gradient"]
    assert found["vanishing gradient"].layers == (1, 2, 3, 4)


def test_a_shortcut_makes_up_for_them(data):
    found = diagnose(faulty.Shortcut(), data)
    assert found.layers[0].gradient_norm < 1e-6 * found.layers[-1].gradient_norm
    assert not found.inside


def test_healthy_ones(data):
    assert sound(faulty.healthy(), data)
    assert sound(nn.GCN(16, 16, 3, 2), data)
    assert sound(nn.GCNII(16, 16, 3, 32), data)


def test_a_constant_does_not_make_features_over_smoothed(data):
    found = diagnose(faulty.constant(), data)
    (layer,) = found.layers
    assert layer.quartiles[0] > 0.98
    assert layer.effective_rank < 2
    assert layer.contrast < 0.05
    assert not found.inside


def test_thresholds_can_be_moved(data):
    model = faulty.healthy()
    strict = Thresholds(contrast=1.0, contrast_rank=1.0)
    (found,) = diagnose(model, data, thresholds=strict).inside
    assert (found.kind, found.layers) == ("over-smoothed", (1, 2))


def test_the_text_of_a_finding():
    finding = Finding("over-smoothed", tuple(range(9, 17)), "median s 0.998")
    assert finding.text == "layers 9-16: over-smoothed (median s 0.998)"
    assert finding.to_dict()["text"] == finding.text


def test_a_gcn_of_two_layers_on_cora_is_healthy(cora):
    model = nn.GCN(cora.num_features, 64, cora.num_classes, 2, dropout=0.5)
    assert fit(model, cora, TrainConfig(epochs=30)).test_score > 0.75
    assert diagnose(model, cora).healthy


def test_gcnii_of_32_layers_on_cora_is_healthy(cora):
    model = nn.GCNII(cora.num_features, 16, cora.num_classes, 32, dropout=0.5)
    assert fit(model, cora, TrainConfig(epochs=20)).test_score > 0.6
    assert diagnose(model, cora, reach=False).healthy


def test_a_gcn_of_pyg_with_32_layers_on_cora_is_not(cora):
    from torch_geometric.nn import GCN

    found = kinds(GCN(cora.num_features, 64, 32, cora.num_classes), cora)
    assert {"over-smoothed", "vanishing gradient"} <= set(found)


@pytest.mark.parametrize("control", [None, "pooled"])
def test_texts_hold_no_more_than_they_can(control):
    data = datasets.demo()
    found = diagnose(nn.GCN(16, 8, 3, 2, control=control, num_components=3), data)
    assert found.verdict.splitlines()[-1].startswith("no over-smoothing found: no layer is dead")
