import os
from dataclasses import fields

import pytest
import torch
from scipy.sparse import csr_array

from graphsct import Graph, datasets
from graphsct.datasets.features import to_tensor
from graphsct.search.blind import BlindData
from graphsct.training import ModelConfig
from graphsct.training.data import TrainingData


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def test_it_holds_neither_test_nodes_nor_their_labels(data):
    blind = BlindData.of(data)
    assert {field.name for field in fields(blind)} == {
        "views",
        "graph",
        "num_features",
        "num_classes",
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
    (view,), (scaled,) = blind.views, blind.normalized
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
    assert blind.edge_weight is None
    assert not hasattr(blind, "y") and not hasattr(blind, "train_mask")


class OfData(torch.nn.Module):
    def forward(self, data):
        return data


def test_models_that_are_not_ours_get_plain_arguments(data):
    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    blind = BlindData.of(sparse)
    ours = ModelConfig(hidden=8).build(blind)
    assert blind.views_of(ours, normalize=False) is blind.views
    assert blind.views_of(ours, normalize=True) is blind.normalized
    theirs = ModelConfig("pyg:GCN", hidden=8).build(blind)
    (view,) = blind.views_of(theirs, normalize=False)
    assert torch.equal(view.x, data.x)
    assert view.inputs == (view.x, blind.edge_index)
    assert torch.equal(view.y, blind.views[0].y)
    assert theirs(*view.inputs).shape == (300, 3)
    (scaled,) = blind.views_of(theirs, normalize=True)
    assert torch.equal(scaled.x, blind.normalized[0].x.to_dense())
    (given,) = blind.views_of(OfData(), normalize=False)[0].inputs
    assert torch.equal(given.x, data.x) and "y" not in given


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
