import numpy as np
import pytest
from zoo import ZOO

from graphsct import DataError, Graph
from graphsct.datasets import csbm
from graphsct.datasets.made_features import MADE_FEATURES, check_present, make_features


def test_degrees_do_not_count_self_loops_and_share_the_last_column():
    star = np.array([[0] * 80, range(1, 81)])
    edges = np.concatenate([star, star[::-1], [[5], [5]]], axis=1)
    x = make_features("degree", Graph(edges))
    assert x.shape == (81, 64)
    assert x.argmax(1).tolist() == [63, *[1] * 80]
    assert (x.sum(1) == 1).all()


@pytest.mark.parametrize("nodes", [40, 400])
def test_eigenvectors_are_those_of_the_operator_the_same_every_time(nodes):
    graph = csbm(nodes, 3 * nodes).graph
    x = make_features("laplacian", graph)
    matrix = graph.matrix.to_dense().double().numpy()
    values = np.linalg.eigvalsh(matrix)[::-1][1:17]
    np.testing.assert_allclose(matrix @ x, x * values, atol=2e-5)
    np.testing.assert_allclose(x.T @ x, np.eye(16), atol=2e-5)
    assert (x[np.abs(x).argmax(0), range(16)] > 0).all()
    assert np.array_equal(x, make_features("laplacian", graph))


@pytest.mark.parametrize("kind", MADE_FEATURES)
@pytest.mark.parametrize("name", ZOO)
def test_every_graph_gets_finite_features(kind, name):
    graph = ZOO[name].graph()
    x = make_features(kind, graph)
    assert x.shape[0] == graph.num_nodes
    assert np.isfinite(x.sum())


def test_missing_features_are_named_with_the_way_out(data):
    assert check_present(data) is data
    bare = data.clone()
    del bare.x
    with pytest.raises(DataError, match=r"demo \(generated\) has no features; make some"):
        check_present(bare)
