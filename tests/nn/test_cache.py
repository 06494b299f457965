import gc
import weakref

import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError
from graphsct.nn.cache import as_graph
from graphsct.nn.linear import _TRANSPOSES, Linear, dropout

X = torch.ones(6, 2)


@pytest.fixture
def edge_index():
    return ZOO["connected"].inputs()[0]


def test_a_graph_is_itself(edge_index):
    graph = Graph(edge_index)
    assert as_graph(graph, None, X) is graph
    with pytest.raises(GraphError, match="edge_weight was given with a Graph"):
        as_graph(graph, torch.ones(14), X)


def test_built_once_while_the_edges_are_the_same_tensor(edge_index):
    graph = as_graph(edge_index, None, X)
    assert as_graph(edge_index, None, X + 1) is graph
    assert as_graph(edge_index.clone(), None, X) is not graph
    assert as_graph(edge_index, None, torch.ones(7, 2)).num_nodes == 7
    assert as_graph(edge_index, None, X.double()).dtype == torch.float64


def test_built_anew_after_a_change_in_place(edge_index):
    graph = as_graph(edge_index, None, X)
    edge_index[:, (edge_index == 5).any(0)] = 0
    changed = as_graph(edge_index, None, X)
    assert changed.num_components == graph.num_components + 1


def test_weights_are_part_of_the_graph(edge_index):
    plain = as_graph(edge_index, None, X)
    weight = torch.full((14,), 2.0)
    graph = as_graph(edge_index, weight, X)
    assert_close(graph.degree, 2 * plain.degree - 1)
    assert as_graph(edge_index, weight, X) is graph
    assert as_graph(edge_index, None, X) is plain
    other = edge_index.flip(0).contiguous()
    assert as_graph(other, weight, X) is not graph
    weight *= 2
    assert_close(as_graph(edge_index, weight, X).degree, 4 * plain.degree - 3)


def test_goes_with_its_tensor(edge_index):
    mine = edge_index.clone()
    graph = weakref.ref(as_graph(mine, None, X))
    gc.collect()
    assert graph() is not None
    del mine
    gc.collect()
    assert graph() is None


def test_sparse_features_do_not_keep_themselves_alive():
    x = X.to_sparse_csr()
    layer = Linear(2, 3)
    layer(dropout(x, 0.5, training=True)).sum().backward()
    layer(x).sum().backward()
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None
    assert not len(_TRANSPOSES._kept)


def test_inference_tensors_are_never_remembered(edge_index):
    with torch.inference_mode():
        fresh = edge_index.clone()
        graph = as_graph(fresh, None, X)
        fresh[:, (fresh == 5).any(0)] = 0
        assert as_graph(fresh, None, X).num_components == graph.num_components + 1


def test_lists_are_edges_too(edge_index):
    assert as_graph(edge_index.tolist(), None, X).num_edges == 7


def test_features_that_are_no_matrix(edge_index):
    with pytest.raises(GraphError, match=r"features are \(6,\)"):
        as_graph(edge_index, None, torch.ones(6))
