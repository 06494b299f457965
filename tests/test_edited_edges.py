"""Every function that takes data sees the edges as they are now."""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN

from graphsct import Graph, datasets, diagnose, fit, fit_many, nn
from graphsct.datasets import describe
from graphsct.distributed import write_partition
from graphsct.search.blind import BlindData
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import run_seeds

CONFIG = TrainConfig(epochs=15, learning_rate=0.05)
PAIR = [[0, 1], [1, 0]]


@pytest.fixture
def edited():
    """A data set with one edge left."""
    data = datasets.demo()
    assert data.graph.num_components == 3
    data.edge_index = torch.tensor(PAIR)
    return data


@pytest.fixture
def fresh():
    """The same from scratch, with nothing to be stale."""
    data = datasets.demo()
    names = ("x", "y", "train_mask", "val_mask", "test_mask", "num_classes", "name")
    return Data(edge_index=torch.tensor(PAIR), **{name: getattr(data, name) for name in names})


@pytest.fixture
def stale(fresh):
    """The same with the graph of other edges in a plain ``Data``."""
    fresh = fresh.clone()
    fresh.graph = datasets.demo().graph
    return fresh


@pytest.fixture(params=["edited", "stale"])
def data(request):
    return request.getfixturevalue(request.param)


def build(kind=nn.GCN, seed=0):
    torch.manual_seed(seed)
    return kind(16, 8, 2, 3) if kind is GCN else kind(16, 8, 3, num_layers=2)


def losses(run):
    return [record.train_loss for record in run.history]


@pytest.mark.parametrize("kind", [nn.GCN, GCN])
def test_fit(data, fresh, kind):
    found = losses(fit(build(kind), data, CONFIG))
    assert found == pytest.approx(losses(fit(build(kind), fresh, CONFIG)), abs=1e-6)
    assert found != pytest.approx(losses(fit(build(kind), datasets.demo(), CONFIG)), abs=1e-3)


def test_fit_many(data, fresh):
    def run(some):
        models = [build(seed=seed) for seed in range(2)]
        return [losses(one) for one in fit_many(models, some, [CONFIG] * 2)]

    for found, expected in zip(run(data), run(fresh), strict=True):
        assert found == pytest.approx(expected, abs=1e-6)


def test_run_seeds(data, fresh):
    model = ModelConfig(hidden=8, control="pooled", dropout=0.0)
    found, expected = (run_seeds(model, some, CONFIG, [0]).runs[0] for some in (data, fresh))
    assert losses(found) == pytest.approx(losses(expected), abs=1e-6)


def test_model_config(data):
    model = ModelConfig(hidden=8, control="pooled").build(data)
    assert model(data.x, data.edge_index).shape == (300, 3)


@pytest.mark.parametrize("kind", [nn.GCN, GCN])
def test_diagnose(data, fresh, kind):
    found, expected = (diagnose(build(kind), some) for some in (data, fresh))
    assert found.graph == expected.graph
    assert found.graph.components == 299
    assert [layer.smoothness for layer in found.layers] == [
        pytest.approx(layer.smoothness, abs=1e-6) for layer in expected.layers
    ]


def test_describe(data):
    facts = describe(data)
    assert (facts.edges, facts.components) == (1, 299)
    assert facts.homophily == float(data.y[0] == data.y[1])


def test_search(data, fresh):
    blind = BlindData.of(data)
    assert blind.graph.num_components == 299
    assert blind.fingerprint() == BlindData.of(fresh).fingerprint()


def test_write_partition(data, tmp_path):
    layout = write_partition(data, tmp_path, 2)
    assert (layout.edges, layout.components) == (1, 299)


def test_directed_edges_stay_possible_for_models_that_take_them(edited):
    edited.edge_index = torch.tensor([[0, 1], [1, 2]])
    assert len(fit(build(GCN), edited, CONFIG).history) == 15
    graph = Graph(edited.edge_index, 300, symmetrize=True)
    assert diagnose(build(GCN), edited, graph=graph).graph.edges == 2
