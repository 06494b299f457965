"""Models that a verdict by one number gets wrong, in both directions."""

import copy

import faulty
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GAE, GCN, GIN, GraphSAGE, global_add_pool
from typer.testing import CliRunner

from graphsct import datasets, diagnose, fit, nn
from graphsct.cli import app
from graphsct.errors import DataError
from graphsct.training import TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


def kinds(found):
    return {finding.kind for finding in found.findings}


@pytest.mark.parametrize("seed", range(5))
def test_a_gcn_of_16_layers_that_learns_little_does_not_work(seed):
    data = datasets.demo()
    torch.manual_seed(seed)
    model = nn.GCN(16, 16, 3, num_layers=16)
    run = fit(model, data, TrainConfig(epochs=100, seed=seed))
    found = diagnose(model, data, reach=False)
    assert found.standing.without_edges.train > 0.95
    assert found.works == (run.val_score > 0.9)  # 2 layers have 1.0
    assert found.healthy is (found.works and not found.inside)
    assert "healthy" not in found.verdict


def test_one_class_for_all_nodes_of_minesweeper(load):
    data = load("minesweeper")
    model = nn.GCN(data.num_features, 32, 2, num_layers=8)
    fit(model, data, TrainConfig(epochs=15), split=0)
    found = diagnose(model, data, reach=False)
    answers = model(data.x, data.graph).argmax(1)
    assert ("one answer" in kinds(found)) == (answers.bincount().max().item() >= 9900)
    assert found.works is False


def test_a_layer_with_57_of_64_dimensions_dead(data):
    model = GCN(16, 64, 4, 3)
    with torch.no_grad():
        model.convs[0].bias[:57] = -100.0
    found = diagnose(model, data, reach=False)
    assert len(found.layers[0].dead) == 57
    assert "dead" in found.states[0]


def test_a_head_of_width_1_with_a_large_bias_is_not_over_smoothed(data):
    numbers = copy.copy(data)
    numbers.y = data.graph.propagate(data.graph.propagate(data.x))[:, 0] + 50
    model = GCN(16, 16, 2, 1, act=None)
    with torch.no_grad():
        model.convs[-1].bias.fill_(50.0)
    run = fit(model, numbers, TrainConfig(epochs=150, dense_weight_decay=0.0))
    assert run.val_score > 0.8
    found = diagnose(model, numbers)
    assert found.layers[-1].contrast < 0.01
    assert "over-smoothed" not in kinds(found)
    assert found.works


def test_200_nodes_with_one_edge_are_not_over_smoothed():
    x = torch.randn(200, 18)
    data = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]))
    found = diagnose(GCN(18, 18, 3, 4), data)
    assert found.room * 200 <= 1
    assert kinds(found) == set()
    assert found.verdict.startswith("no over-smoothing found")


def test_a_layer_without_gradient_says_so_in_its_row(data):
    found = diagnose(faulty.starved(), data, reach=False)
    assert found.states[:4] == ("vanishing gradient",) * 4
    assert "vanishing gradient" in str(found).split("convs.0")[1].splitlines()[0]


def test_contrast_is_explained_where_a_finding_rests_on_it():
    arguments = ["diagnose", "--depth", "24", "--init", "glorot", "--epochs", "3", "--explain"]
    shown = CliRunner().invoke(app, arguments).output
    assert "This share, the contrast, leaves out what all nodes" in " ".join(shown.split())
    assert "models that have it" in " ".join(shown.split())


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gnn, self.head = GIN(16, 16, 3), torch.nn.Linear(16, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.gnn(x, edge_index), batch))


def graphs(count=30):
    found = []
    for number in range(count):
        ends = torch.arange(7)
        ring = torch.stack([ends, (ends + 1) % 8])
        y, x = torch.tensor([number % 2]), torch.randn(8, 16) + number % 2
        found.append(Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], dim=1), y=y))
    return found


def test_a_graph_classifier_by_one_call():
    found = diagnose(Classifier(), graphs())
    assert found.target == "the loss of the training graphs"
    assert found.works is not None
    batch = next(iter(DataLoader(graphs(), batch_size=8)))
    assert len(diagnose(Classifier(), batch).layers) == 3
    alone = diagnose(Classifier(), graphs()[0])
    assert alone.target == "the output in a random direction"


class LinkPredictor(torch.nn.Module):
    """As in the examples of PyTorch Geometric: no forward at all."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.GCN(16, 16, 16, 2), GraphSAGE(16, 8, 2)

    def encode(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)

    def decode(self, z, edge_label_index):
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(1)


class Scorer(LinkPredictor):
    def forward(self, x, edge_index, edge_label_index):
        return self.decode(self.encode(x, edge_index), edge_label_index)


@pytest.mark.parametrize("build", [LinkPredictor, Scorer, lambda: GAE(GCN(16, 16, 3, 8))])
def test_a_link_predictor_by_one_call(data, build):
    found = diagnose(build(), data)
    assert len(found.layers) in (3, 4)
    assert all(layer.gradient_norm > 0 for layer in found.layers)
    assert found.works is None


def test_links_with_a_loss_of_ones_own(data):
    def loss(output, data):
        return F.binary_cross_entropy_with_logits(output, torch.ones_like(output))

    assert diagnose(Scorer(), data, loss=loss).target == "your loss"


def test_nodes_of_several_types_are_refused_with_a_way_out():
    data = HeteroData()
    data["paper"].x = torch.randn(4, 16)
    with pytest.raises(DataError, match="get_embeddings_hetero"):
        diagnose(GCN(16, 8, 2, 3), data)
