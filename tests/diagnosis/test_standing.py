import copy

import pytest
import torch
from shapes import shapes
from torch_geometric.nn import GCN

from graphsct import diagnose, fit, nn
from graphsct.datasets import Fractions, demo, from_graphs
from graphsct.diagnosis import SplitScores, Standing, score_without_edges
from graphsct.diagnosis import standing as standing_module
from graphsct.training import TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


def standing(model, data, **options):
    return diagnose(model, data, reach=False, influence=False, **options).standing


def test_scores_are_those_of_training(data):
    model = nn.GCN(16, 8, 3, 2)
    run = fit(model, data, TrainConfig(epochs=30))
    found = standing(model, data)
    assert found.model.val == pytest.approx(run.val_score)
    assert found.nodes == int(data.val_mask.sum())
    assert found.answers == 3


def test_guessing_is_the_most_frequent_class(data):
    found = standing(nn.GCN(16, 8, 3, 2), data, rival=False)
    frequent = int(data.y[data.train_mask].bincount().argmax())
    right = float((data.y[data.val_mask] == frequent).double().mean())
    assert found.guess.val == pytest.approx(right)
    assert found.without_edges is None


def test_the_network_without_edges_sees_none():
    data = demo()
    before = score_without_edges(data)
    other = copy.copy(data)
    other.edge_index = torch.randint(300, (2, 50))
    other.edge_index = torch.cat([other.edge_index, other.edge_index.flip(0)], dim=1)
    assert score_without_edges(other) == before
    assert before.train > 0.9


def test_the_network_without_edges_sees_some_nodes_of_many(monkeypatch):
    data, seen = demo(), []
    forward = standing_module._WithoutEdges.forward
    monkeypatch.setattr(
        standing_module._WithoutEdges,
        "forward",
        lambda self, x, edges: seen.append(len(x)) or forward(self, x, edges),
    )
    monkeypatch.setattr(standing_module, "_MOST", 20)
    few = score_without_edges(data)
    assert set(seen) == {60}  # 20 to train on, and 20 to validate on, twice
    assert score_without_edges(data) == few
    assert few.val > 0.5


def test_numbers_have_a_spread_and_no_classes(data):
    numbers = copy.copy(data)
    numbers.y = data.x[:, 0] + data.x[:, 1]
    model = GCN(16, 8, 2, 1)
    found = standing(model, numbers)
    assert found.metric == "r2"
    assert found.guess.train == pytest.approx(0, abs=1e-6)
    assert found.frequent is None
    assert found.spread == pytest.approx(
        (model.eval()(data.x, data.edge_index).std() / numbers.y.std()).item(), rel=1e-4
    )
    assert found.without_edges.val > 0.8


def test_several_labels(data):
    labels = copy.copy(data)
    labels.y = torch.nn.functional.one_hot(data.y, 3).float()
    found = standing(GCN(16, 8, 2, 3), labels)
    assert found.metric == "average_precision"
    assert found.without_edges.val > found.guess.val


def test_a_list_of_graphs():
    data = from_graphs(shapes(60), split=Fractions(0.5, 0.25))
    found = standing(nn.GCN(data.num_features, 8, data.num_outputs, 2, readout="mean"), data)
    assert found.nodes == int(data.val_mask.sum())
    assert found.without_edges is not None
    assert found.noun == "graph"


def test_answers_that_depend_on_nothing(data):
    class Alone(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(16, 3)

        def forward(self, x, edge_index):
            return self.lin(x)

    found = standing(Alone(), data, rival=False)
    assert found.same_without_edges == 1
    assert found.same_with_other_features < 0.9
    ours = standing(nn.GCN(16, 8, 3, 2), data, rival=False)
    assert ours.same_without_edges < 1


def test_skill_goes_from_guessing_to_no_error():
    scores = SplitScores(0.6, 0.8)
    own = Standing("accuracy", scores, SplitScores(0.2, 0.6), None, 100, *[None] * 6)
    assert own.skill(scores) == pytest.approx(0.5)
    assert own.skill(scores, "train") == pytest.approx(0.5)
    assert own.margin == 0.1
    error = Standing("mse", SplitScores(1.0, 1.0), SplitScores(4.0, 4.0), None, 100, *[None] * 6)
    assert error.skill(error.model) == pytest.approx(0.75)
