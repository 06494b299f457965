import os
from dataclasses import fields, replace

import pytest
import torch
from scipy.sparse import csr_array
from shapes import shapes

from graphsct import Graph, datasets
from graphsct.datasets.features import to_tensor
from graphsct.nn import GCN
from graphsct.search.blind import BlindData
from graphsct.training import ModelConfig
from graphsct.training.data import TrainingData
from graphsct.training.graphs import TrainingGraphs


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def test_it_holds_neither_test_nodes_nor_their_labels(data):
    blind = BlindData.of(data)
    assert {field.name for field in fields(blind)} == {
        "views",
        "graph",
        "num_features",
        "num_outputs",
        "rest",
    }
    (view,) = blind.views
    assert type(view) is TrainingData
    hidden = ~(data.train_mask | data.val_mask)
    assert bool((view.y[hidden] == -1).all())
    assert bool((view.y[~hidden] >= 0).all())


@pytest.mark.parametrize("sparse", [False, True])
def test_its_rows_can_sum_to_one(data, sparse):
    given = data.clone()
    if sparse:
        given.x = to_tensor(csr_array(data.x.relu().numpy()))
    blind = BlindData.of(given)
    (view,), (scaled,) = blind.views, blind.views_of(GCN(16, 8, 3, 2), normalize=True)
    expected = view.x.to_dense() / view.x.to_dense().abs().sum(1, keepdim=True)
    assert scaled.x.layout == view.x.layout
    torch.testing.assert_close(scaled.x.to_dense(), expected)
    assert scaled.y is view.y and scaled.edges is view.edges
    assert BlindData.from_bytes(blind.to_bytes()).fingerprint() == blind.fingerprint()


def test_models_are_built_from_it(data):
    model = ModelConfig(control="pooled", hidden=8).build(BlindData.of(data))
    (view,) = BlindData.of(data).views
    assert model(view.x, *view.edges).shape == (300, 3)


def test_functions_see_features_and_edges_but_no_labels(data):
    blind = BlindData.of(data)
    assert blind.x is blind.views[0].x
    assert blind.num_nodes == 300
    assert Graph(blind.edge_index, 300).num_components == data.graph.num_components
    assert not hasattr(blind, "y") and not hasattr(blind, "train_mask")


def test_models_that_are_not_ours_get_plain_arguments(data):
    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    blind = BlindData.of(sparse)
    ours = ModelConfig(hidden=8).build(blind)
    assert blind.views_of(ours) == list(blind.views)
    theirs = ModelConfig("pyg:GCN", hidden=8).build(blind)
    (view,) = blind.views_of(theirs, normalize=False)
    assert torch.equal(view.x, data.x)
    assert view.inputs == (view.x, blind.edge_index)
    assert torch.equal(view.y, blind.views[0].y)
    assert theirs(*view.inputs).shape == (300, 3)
    (scaled,) = blind.views_of(theirs, normalize=True)
    assert torch.equal(scaled.x, blind.views_of(ours, normalize=True)[0].x.to_dense())


def test_data_without_a_graph_get_one(data):
    plain = data.clone()
    del plain.graph
    assert BlindData.of(plain).graph.num_components == data.graph.num_components


def test_other_processes_get_the_same(data):
    blind = BlindData.of(data)
    other = BlindData.from_bytes(blind.to_bytes())
    assert other.fingerprint() == blind.fingerprint()
    assert other.num_classes == 3


def test_the_fingerprint_depends_on_all_but_the_test_labels(data):
    def fingerprint(**changes):
        other = data.clone()
        for name, value in changes.items():
            setattr(other, name, value)
        if "train_mask" in changes:
            del other.splits
        return BlindData.of(other).fingerprint()

    same = fingerprint(y=torch.where(data.test_mask, (data.y + 1) % 3, data.y))
    assert same == BlindData.of(data).fingerprint()
    assert fingerprint(y=(data.y + 1) % 3) != same
    assert fingerprint(x=2 * data.x) != same
    fewer = data.train_mask.clone()
    fewer[fewer.nonzero()[0]] = False
    assert fingerprint(train_mask=fewer) != same


def test_ten_splits_are_ten_views(monkeypatch, tmp_path):
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path))
    texas = datasets.load("texas")
    blind = BlindData.of(texas)
    assert len(blind.views) == 10
    for view, split in zip(blind.views, texas.splits, strict=True):
        assert torch.equal(view.train, split.train)
        assert bool((view.y[split.test] == -1).all())


class OfData(torch.nn.Module):
    """A model that takes the data as its only argument."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 3)

    def forward(self, data):
        self.seen = data
        return self.linear(data.x)


def test_other_models_get_dense_features_and_edges_without_targets(data):
    blind = BlindData.of(data)
    model = OfData()
    (view,) = blind.views_of(model)
    view.scores(model)
    assert model.seen.x is view.x and model.seen.edge_index is data.edge_index
    assert not [key for key in model.seen.to_dict() if key in ("y", "splits") or "mask" in key]
    assert "y" in data and "train_mask" in data
    (scaled,) = blind.views_of(model, normalize=True)
    scaled.scores(model)
    assert torch.allclose(model.seen.x.abs().sum(1), torch.ones(300))


@pytest.mark.parametrize(("metric", "expected"), [(None, "accuracy"), ("f1_macro", "f1_macro")])
def test_its_metric(data, metric, expected):
    assert BlindData.of(data, metric).metric == expected


def test_it_is_moved_as_a_whole(data):
    blind = BlindData.of(data)
    views = (*blind.views, *blind.views)  # of two splits, which share features and graph
    moved = replace(blind, views=views).to(torch.device("meta"))
    first, second = moved.views
    assert first.x is second.x is moved.rest.x
    assert first.edges[0] is second.edges[0] is moved.graph
    assert {first.x.device, first.y.device, moved.graph.device} == {torch.device("meta")}
    assert blind.graph.device == torch.device("cpu")


def test_lists_hold_no_test_graphs():
    graphs = datasets.from_graphs(shapes(), split=datasets.Fractions())
    blind = BlindData.of(graphs)
    (view,) = blind.views
    assert type(view) is TrainingGraphs
    assert len(view.graphs) == int((graphs.train_mask | graphs.val_mask).sum())
    hidden = {id(graphs[number]) for number in graphs.test_mask.nonzero()[:, 0].tolist()}
    assert hidden.isdisjoint(map(id, view.graphs))
    model = ModelConfig(control="gated", hidden=8).build(blind)
    (rows,) = blind.views_of(model, normalize=True)
    torch.testing.assert_close(rows.x.sum(dim=1), torch.ones(len(view.x)))
    assert rows.evaluate(model).shape == (len(view.graphs), 2)
    again = BlindData.from_bytes(blind.to_bytes())
    assert again.fingerprint() == blind.fingerprint()
    assert BlindData.of(shapes(seed=1)).fingerprint() != blind.fingerprint()
