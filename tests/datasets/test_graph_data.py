import copy
import gc
import pickle
import warnings
import weakref

import pytest
import torch
from torch_geometric import transforms as T
from torch_geometric.data import Data
from torch_geometric.utils import dropout_edge

from graphsct import Graph, GraphError, datasets
from graphsct.datasets import csbm, from_data
from graphsct.graph.cache import graph_of
from graphsct.nn import GCN
from graphsct.training import TrainConfig, fit

TRIANGLE = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])


@pytest.fixture
def data():
    return csbm(40, 60, num_components=3, num_classes=2)


def weighted(data):
    source = Data(edge_index=data.edge_index, x=data.x, y=data.y)
    source.edge_weight = 1.0 + (data.edge_index[0] + data.edge_index[1]) % 5
    return from_data(source)


@pytest.fixture
def built(monkeypatch):
    """The number of nodes of every graph that is built from edges."""
    found = []
    init = Graph.__init__

    def count(self, *args, **kwargs):
        init(self, *args, **kwargs)
        found.append(self.num_nodes)

    monkeypatch.setattr(Graph, "__init__", count)
    return found


def assign(data):
    data.edge_index = TRIANGLE
    return data


def in_place(data):
    data.edge_index[:, (data.edge_index == 5).any(0)] = 5
    return data


def drop_edges(data):
    torch.manual_seed(0)
    data.edge_index = dropout_edge(data.edge_index, p=0.5, force_undirected=True)[0]
    return data


def reload(data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return pickle.loads(pickle.dumps(data))


COPIES = {
    "itself": lambda data: data,
    "clone": lambda data: data.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": reload,
    "to": lambda data: data.to("cpu"),
}
EDITS = {
    "assign": assign,
    "in_place": in_place,
    "drop_edges": drop_edges,
    "LargestConnectedComponents": T.LargestConnectedComponents(),
    "AddSelfLoops": T.AddSelfLoops(),
    "ToUndirected": T.ToUndirected(),
    "NormalizeFeatures": T.NormalizeFeatures(),
    "subgraph": lambda data: data.subgraph(torch.arange(20)),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES)
def test_the_graph_is_that_of_the_edges(data, make_copy, edit):
    before = data.graph
    other = make_copy(data)
    assert other.graph.adjacency.equals(before.adjacency)
    edited = edit(other)
    now = Graph(edited.edge_index, edited.num_nodes)
    assert edited.graph.adjacency.equals(now.adjacency)
    assert edited.graph is edited.graph
    if make_copy not in (COPIES["itself"], COPIES["to"]) and edit is assign:
        assert data.graph is before


def test_weights_belong_to_the_graph(data):
    data = weighted(data)
    degree = data.graph.degree
    assert not degree.equal(csbm(40, 60, num_components=3).graph.degree)
    data.edge_weight *= 2
    torch.testing.assert_close(data.graph.degree, 2 * degree - 1)
    data.edge_weight = None
    assert data.graph.edge_weight is None
    data.edge_weight = torch.ones(3)
    with pytest.raises(GraphError, match=r"edge_weight has shape \(3,\), expected"):
        _ = data.graph


def test_precision_follows_the_features(data):
    assert data.graph.dtype == torch.float32
    data.x = data.x.double()
    assert data.graph.dtype == torch.float64


def test_directed_edges_are_refused_with_the_way_out(data):
    data.edge_index = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(GraphError, match=r"2 edges have no reverse.*from_data\(data, symmetrize"):
        _ = data.graph
    assert from_data(data, symmetrize=True).graph.num_edges == 2


def test_symmetrized_edges_are_those_of_the_graph():
    source = Data(edge_index=torch.tensor([[0, 1, 2, 2], [1, 2, 1, 2]]), num_nodes=4)
    data = from_data(source, symmetrize=True)
    assert data.edge_index.tolist() == [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]
    assert reload(data).graph.adjacency.equals(data.graph.adjacency)


def test_an_assigned_graph_is_used_while_it_has_the_edges(data):
    precise = data.graph.double()
    data.graph = precise
    assert data.graph is precise
    data.edge_index = TRIANGLE
    assert data.graph.num_edges == 3
    del data.graph
    assert data.graph.num_edges == 3
    del data.graph  # nothing was assigned


def test_without_edges_there_is_no_graph(data):
    graph, data.edge_index = data.graph, None
    assert getattr(data, "graph", None) is None
    data.graph = graph
    assert data.graph is graph


def test_a_plain_data_may_carry_a_graph_of_its_edges(data):
    mine = Graph.from_data(data)
    plain = Data(edge_index=data.edge_index, num_nodes=40, graph=mine)
    assert graph_of(plain) is mine
    one_way = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    assert graph_of(Data(edge_index=one_way, num_nodes=40, graph=mine)) is mine
    plain.edge_index = TRIANGLE
    assert graph_of(plain).num_edges == 3
    plain.num_nodes = 41
    assert graph_of(plain).num_nodes == 41


def test_a_sample_is_used_while_it_has_the_edges(data):
    nodes = torch.arange(0, 40, 2)
    batch = data.subgraph(nodes)
    batch.graph = part = data.graph.subgraph(nodes)
    assert batch.graph is part
    batch.edge_index = batch.edge_index[:, :2]  # a loader keeps some edges
    assert batch.graph is part
    batch.edge_index = torch.tensor([[0, 19, 0, 1, 1, 2], [19, 0, 1, 0, 2, 1]])
    assert batch.graph is not part


def test_no_second_graph_is_built_while_nothing_changes(built):
    data = csbm(40, 60)
    assert built == [40]
    model, config = GCN(16, 4, 2, num_layers=2), TrainConfig(epochs=2)
    for _ in range(3):
        fit(model, data, config)
        fit(model, copy.copy(data).to("cpu"), config)
        model(data.x, data.edge_index)
    assert built == [40]
    data.edge_index = TRIANGLE.clone()
    for _ in range(3):
        fit(model, data, config)
    assert built == [40, 40]


def test_a_graph_moves_with_its_edges_without_a_second_look(built):
    data = datasets.demo().to("meta")
    assert data.graph.device.type == data.edge_index.device.type == "meta"
    assert built == [300]


def test_the_graph_goes_with_the_data():
    data = csbm(40, 60)
    seen = weakref.ref(data.graph)
    assert seen() is not None
    del data
    gc.collect()
    assert seen() is None


def test_a_clone_shares_the_graph_until_its_edges_change(built):
    data = csbm(40, 60)
    other = data.clone()
    assert other.edge_index is not data.edge_index
    assert other.graph is data.graph
    assert built == [40]
    in_place(other)
    assert other.graph.num_edges < data.graph.num_edges == 60
