import copy
import pickle

import networkx as nx
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from torch_geometric.data import Batch, Data
from zoo import ZOO

from graphsct import Graph, GraphError


def assert_same(first, second):
    assert_close(first.matrix.to_dense(), second.matrix.to_dense())
    assert_close(first.basis, second.basis)
    assert first.component.equal(second.component)


def test_operator_is_the_dense_one(graph, dense):
    assert_close(graph.matrix.to_dense(), dense.G, rtol=1e-14, atol=1e-14)
    assert_close(graph.degree, dense.degree)


def test_components_are_those_of_the_dense_graph(case, graph, dense):
    assert graph.num_components == dense.m == case.num_components
    assert graph.component.equal(dense.component)


def test_basis_spans_the_eigenspace_found_by_eigh(graph, dense):
    q = graph.unpool(torch.eye(graph.num_components, dtype=torch.float64))
    assert_close(q, dense.Q, rtol=1e-14, atol=1e-14)
    assert_close(q @ q.T, dense.P, rtol=1e-10, atol=1e-10)
    assert_close(graph.propagate(q), q, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("method", ["propagate", "pool", "project"])
def test_methods_on_features(method, graph, dense, x):
    expected = {"propagate": dense.G, "pool": dense.Q.T, "project": dense.P}[method]
    function = getattr(graph, method)
    assert_close(function(x), expected @ x, rtol=1e-10, atol=1e-12)
    assert torch.autograd.gradcheck(function, x.requires_grad_())
    assert torch.autograd.gradgradcheck(function, x)


def test_mean_is_that_of_all_nodes(graph, x):
    assert_close(graph.mean(x), x.mean(0).unsqueeze(0))
    with pytest.raises(GraphError, match="rows but the graph has"):
        graph.mean(torch.cat([x, x]))


def test_unpool_is_the_adjoint_of_pool(graph, dense):
    a = torch.randn(graph.num_components, 3, dtype=torch.float64, requires_grad=True)
    assert_close(graph.unpool(a), dense.Q @ a)
    assert torch.autograd.gradcheck(graph.unpool, a)
    assert torch.autograd.gradgradcheck(graph.unpool, a)


def test_methods_take_strided_and_empty_features(graph, dense, x):
    wide = torch.cat([x, x], dim=1)[:, ::2]
    assert_close(graph.propagate(wide), dense.G @ wide)
    assert_close(graph.pool(x.T.contiguous().T), dense.Q.T @ x)
    assert graph.project(x[:, :0]).shape == (graph.num_nodes, 0)


def test_one_node_and_isolated_nodes():
    assert Graph([[], []], num_nodes=1, dtype=torch.float64).extreme_eigenvalues is None
    graph = Graph([[0, 1, 2], [0, 1, 2]])
    assert graph.num_components == 3
    assert graph.num_edges == 0
    assert graph.basis.equal(torch.ones(3))


def test_edges_come_back_without_self_loops(case, graph):
    edge_index, edge_weight = case.inputs()
    values = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight
    expected = torch.zeros(case.num_nodes, case.num_nodes, dtype=torch.float64)
    expected[edge_index[0], edge_index[1]] = values.double()
    expected.fill_diagonal_(0)
    back = torch.zeros_like(expected)
    weight = graph.edge_weight
    assert (weight is None) == (edge_weight is None)
    back[graph.edge_index[0], graph.edge_index[1]] = 1.0 if weight is None else weight
    assert back.equal(expected)
    assert graph.edge_index.shape == (2, 2 * graph.num_edges)
    assert graph.to("meta").edge_index.device.type == "meta"


def test_from_data(case):
    edge_index, edge_weight = case.inputs()
    data = Data(edge_index=edge_index, num_nodes=case.num_nodes)
    if edge_weight is not None:
        data.edge_weight = edge_weight
    assert_same(Graph.from_data(data, dtype=torch.float64), case.graph())


def test_from_scipy(case):
    edge_index, edge_weight = case.inputs()
    values = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight
    matrix = sp.coo_array((values.numpy(), edge_index.numpy()), shape=(case.num_nodes,) * 2)
    graph = Graph.from_scipy(matrix.tocsr(), dtype=torch.float64)
    assert_same(graph, case.graph())
    assert Graph.from_scipy(matrix).dtype == torch.float32


def test_from_networkx(case):
    source = nx.Graph()
    source.add_nodes_from(f"node {i}" for i in range(case.num_nodes))
    weights = case.weights or [1.0] * len(case.edges)
    for (i, j), w in zip(case.edges, weights, strict=True):
        source.add_edge(f"node {i}", f"node {j}", w=w)
    weight = None if case.weights is None else "w"
    for built in (source, source.to_directed()):
        assert_same(Graph.from_networkx(built, weight, dtype=torch.float64), case.graph())


def test_parallel_edges_of_networkx_count_once_without_weights_and_add_up_with_them():
    source = nx.MultiGraph([(0, 1, {"w": 2.0}), (0, 1, {"w": 3.0}), (1, 1, {"w": 4.0})])
    assert Graph.from_networkx(source).degree.equal(torch.tensor([2.0, 2.0]))
    assert Graph.from_networkx(source, "w").degree.equal(torch.tensor([6.0, 9.0]))


def test_from_data_on_a_pyg_batch_of_the_zoo_has_all_components():
    data = [Data(edge_index=c.inputs()[0], num_nodes=c.num_nodes) for c in ZOO.values()]
    graph = Graph.from_data(Batch.from_data_list(data))
    assert graph.num_components == sum(case.num_components for case in ZOO.values())


def test_moves_between_dtypes_without_loss(case):
    graph = case.graph(torch.float32)
    assert graph.float() is graph.cpu() is graph
    assert_same(graph.double(), case.graph(torch.float64))
    assert graph.double().float().matrix.dtype == torch.float32
    assert graph.to(torch.zeros(1, dtype=torch.float64)).dtype == torch.float64
    assert graph.to("cpu", torch.float64).device.type == "cpu"


def test_moves_between_devices_like_a_tensor(graph):
    moved = graph.to("meta")
    assert moved.device.type == moved.matrix.device.type == moved.basis.device.type == "meta"
    assert_same(moved.cpu(), graph)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_named(graph):
    with pytest.raises(GraphError, match="device is 'cuda', which is not available for graphs"):
        graph.cuda()


@pytest.mark.parametrize("place", ["gpu", "cuda:x", [], -7])
def test_a_place_that_is_none_is_refused(graph, place):
    with pytest.raises(GraphError, match=r"cannot move to .*; pass a device such as 'cpu'"):
        graph.to(place)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_cuda_it_is_the_same_graph(graph, x):
    there = graph.cuda()
    assert there.cuda() is there
    for verb in ("propagate", "pool", "project"):
        expected = getattr(graph, verb)(x)
        assert_close(getattr(there, verb)(x.cuda()).cpu(), expected)


def test_moves_with_a_pyg_data(graph):
    data = Data(edge_index=torch.tensor([[0], [0]]), graph=graph)
    assert data.to("meta").graph.device.type == "meta"


def test_copies_and_pickles(graph):
    assert copy.deepcopy(graph) is graph
    assert_same(pickle.loads(pickle.dumps(graph)), graph)


BAD = {
    "the graph is empty": dict(edge_index=torch.empty(2, 0, dtype=torch.long)),
    "5 nodes and no edges": dict(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=5),
    "negative id -3": dict(edge_index=[[0, -3], [-3, 0]]),
    "id 7 but num_nodes is 4": dict(edge_index=[[0, 7], [7, 0]], num_nodes=4),
    r"holds torch.float32.*edge_index.long\(\)": dict(edge_index=[[0.0, 1.0], [1.0, 0.0]]),
    "holds torch.bool": dict(edge_index=[[True, False], [False, True]]),
    r"shape \(3, 2\).*transpose": dict(edge_index=[[0, 1], [1, 0], [0, 1]]),
    r"shape \(2,\)": dict(edge_index=[0, 1]),
    "is a str that is not a tensor": dict(edge_index="edges"),
    "is a NoneType that is not a tensor": dict(edge_index=None),
    "is a list that is not a tensor": dict(edge_index=[[0, 1], [1]]),
    "layout torch.sparse_coo": dict(edge_index=torch.eye(2).to_sparse()),
    "3 edges have no reverse, the first is 0 -> 1.*symmetrize=True": dict(
        edge_index=[[0, 1, 2, 3, 4], [1, 2, 3, 4, 3]]
    ),
    "1 edges have another weight.*0 -> 1 with 1.0 against 2.0": dict(
        edge_index=[[0, 1], [1, 0]], edge_weight=[1.0, 2.0]
    ),
    r"edge_weight\[1\] is nan": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[1, torch.nan]),
    r"edge_weight\[0\] is inf": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[torch.inf, 1]),
    r"edge_weight\[0\] is -1": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[-1.0, -1.0]),
    r"edge_weight\[0\] is 0": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[0, 0]),
    r"shape \(3,\), expected \(2,\)": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[1.0, 1, 1]),
    "edge_weight holds torch.complex64": dict(edge_index=[[0, 1], [1, 0]], edge_weight=[1j, 1j]),
    "requires a gradient.*detach": dict(
        edge_index=[[0, 1], [1, 0]], edge_weight=torch.ones(2, requires_grad=True)
    ),
    "add up to inf": dict(
        edge_index=[[0, 1, 0, 2], [1, 0, 2, 0]],
        edge_weight=torch.full((4,), 1.5e308, dtype=torch.float64),
    ),
    "num_nodes is 2.5": dict(edge_index=[[0, 1], [1, 0]], num_nodes=2.5),
    "num_nodes is True": dict(edge_index=[[0, 1], [1, 0]], num_nodes=True),
    "num_nodes is -2": dict(edge_index=[[0, 1], [1, 0]], num_nodes=-2),
    "holds at most 2147483648 nodes": dict(edge_index=[[0, 1], [1, 0]], num_nodes=10**15),
    "largest id is 1000000000000.*relabel": dict(edge_index=[[0, 10**12], [10**12, 0]]),
    "device is 'nowhere', which is not available": dict(edge_index=[[0], [0]], device="nowhere"),
    "device is 3.5, which is not available": dict(edge_index=[[0], [0]], device=3.5),
    "dtype is torch.int64": dict(edge_index=[[0, 1], [1, 0]], dtype=torch.int64),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named_with_a_way_out(message):
    with pytest.raises(GraphError, match=message):
        Graph(**BAD[message])


def test_bad_sources_are_named():
    with pytest.raises(GraphError, match="Data has no edge_index"):
        Graph.from_data(Data())
    with pytest.raises(GraphError, match="got list"):
        Graph.from_scipy([[0, 1], [1, 0]])
    with pytest.raises(GraphError, match=r"shape \(2, 3\)"):
        Graph.from_scipy(sp.coo_array((2, 3)))
    with pytest.raises(GraphError, match="got dict"):
        Graph.from_networkx({})
    for value, message in (
        ("x", "edge_weight is a list"),
        (None, "edge_weight is a list"),
        (0, "is 0"),
    ):
        with pytest.raises(GraphError, match=message):
            Graph.from_networkx(nx.Graph([(0, 1, {"w": value})]), "w")
    with pytest.raises(GraphError, match=r"holds torch.complex128"):
        Graph.from_scipy(sp.coo_array(([1j, 1j], ([0, 1], [1, 0]))))
    with pytest.raises(GraphError, match="2 nodes and no edges"):
        Graph.from_scipy(sp.coo_array((2, 2)))
    with pytest.raises(GraphError, match="empty"):
        Graph.from_networkx(nx.Graph())


def test_bad_features_are_named_with_a_way_out():
    graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
    for features, message in [
        ([[1.0]] * 3, "features are a list"),
        (torch.eye(3).to_sparse(), "torch.sparse_coo"),
        (torch.ones(3), r"x.unsqueeze\(1\)"),
        (torch.ones(2, 3), r"2 rows but the graph has 3 nodes; transpose them"),
        (torch.ones(4, 2), r"4 rows but the graph has 3 nodes$"),
        (torch.ones(3, 2, device="meta"), r"on meta, the graph on cpu; move one: graph.to\('meta'"),
        (torch.ones(3, 2).double(), r"float64, the graph is torch.float32; use graph.to\(torch.f"),
        (torch.ones(3, 2).long(), r"int64, the graph is torch.float32; use x.to\(torch.float32\)"),
    ]:
        for method in (graph.propagate, graph.pool, graph.project):
            with pytest.raises(GraphError, match=message):
                method(features)
    with pytest.raises(GraphError, match="3 rows but the graph has 1 components"):
        graph.unpool(torch.ones(3, 2))


numbers = st.one_of(
    st.integers(-(2**70), 2**70), st.integers(-2, 6), st.floats(), st.booleans(), st.none()
)
anything = st.one_of(
    numbers,
    st.text(max_size=3),
    st.lists(st.one_of(numbers, st.lists(numbers, max_size=5)), max_size=4),
    st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=2, max_size=2),
)


dtypes = st.sampled_from([torch.int32, torch.uint8, torch.float16, torch.bool, torch.complex64])


@given(
    edges=anything,
    nodes=st.one_of(numbers, st.integers(1, 8)),
    weight=anything,
    dtype=st.one_of(st.none(), dtypes, st.just(torch.float64), st.text(max_size=3)),
)
def test_nothing_but_graph_error_escapes_the_constructor(edges, nodes, weight, dtype):
    try:
        graph = Graph(edges, nodes, weight, dtype=dtype)
    except GraphError as error:
        assert len(str(error)) > 20
    else:
        assert graph.num_nodes >= 1
        assert torch.isfinite(graph.matrix.values()).all()


@given(
    shape=st.lists(st.integers(0, 4), max_size=3),
    dtype=dtypes,
    fill=st.integers(-1, 6),
    grad=st.booleans(),
)
def test_nothing_but_graph_error_escapes_for_tensors_of_any_kind(shape, dtype, fill, grad):
    tensor = torch.full(shape, fill).to(dtype)
    grad = grad and tensor.dtype.is_floating_point
    for arguments in ((tensor,), ([[0, 1], [1, 0]], 2, tensor.requires_grad_(grad))):
        try:
            Graph(*arguments)
        except GraphError as error:
            assert len(str(error)) > 20


pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20)


@given(pairs=pairs, extra=st.integers(0, 3), seed=st.integers(0, 10**6))
def test_any_undirected_graph_has_its_basis_in_the_eigenspace(pairs, extra, seed):
    index = torch.tensor(pairs).t()
    weight = torch.rand(len(pairs), generator=torch.Generator().manual_seed(seed)) + 0.01
    graph = Graph(
        torch.cat([index, index.flip(0)], 1),
        int(index.max()) + 1 + extra,
        torch.cat([weight, weight]).double(),
    )
    q = graph.unpool(torch.eye(graph.num_components, dtype=torch.float64))
    assert_close(graph.propagate(q), q, rtol=1e-12, atol=1e-12)
    assert_close(q.T @ q, torch.eye(graph.num_components, dtype=torch.float64))
    ones = (torch.linalg.eigvalsh(graph.matrix.to_dense()) > 1 - 1e-12).sum()
    assert graph.num_components <= ones


def test_kept_edges_have_the_operator_of_a_graph_without_the_others():
    case = ZOO["weighted"]
    graph = case.graph()
    kept = torch.tensor([True, False, True, True])
    thinned = graph.keep_edges(kept)
    edge_index, edge_weight = case.inputs()
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3)]  # as edge_numbers counts them
    stays = torch.tensor([kept[pairs.index((min(e), max(e)))] for e in edge_index.t().tolist()])
    alone = Graph(edge_index[:, stays], case.num_nodes, edge_weight[stays], dtype=torch.float64)
    x = torch.randn(case.num_nodes, 3, dtype=torch.float64)
    assert_close(thinned.propagate(x), alone.propagate(x))
    assert_close(thinned.pool(x), graph.pool(x))
    assert thinned.num_edges == 3 and thinned.edge_index.shape == (2, 6)
    for wrong in (thinned, graph):
        with pytest.raises(GraphError, match=r"kept has shape \(3,\).*call keep_edges on that"):
            wrong.keep_edges(torch.ones(3, dtype=torch.bool))


def test_weights_that_float32_cannot_hold_are_refused():
    edges, weight = [[0, 1], [1, 0]], torch.full((2,), 1e200, dtype=torch.float64)
    with pytest.raises(GraphError, match=r"add up to 1e\+200, more than torch.float32 holds"):
        Graph(edges, edge_weight=weight, dtype=torch.float32)
    with pytest.raises(GraphError, match=r"pass dtype=torch\.float64"):
        Graph(edges, edge_weight=weight).float()


def test_an_arranged_graph_is_the_same_one(graph):
    """Its components and its edges have the numbers that they had."""
    place = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))
    graph = copy.copy(graph)
    graph.order = place
    other, x = graph.arranged, torch.randn(graph.num_nodes, 3, dtype=graph.dtype)
    assert_close(other.propagate(x[place]), graph.propagate(x)[place])
    assert_close(other.pool(x[place]), graph.pool(x))
    assert other.component.equal(graph.component[place])
    if graph.num_edges:
        kept = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(1)) < 0.5
        lost = other.keep_edges(kept)
        assert_close(lost.propagate(x[place]), graph.keep_edges(kept).propagate(x)[place])


def test_the_operator_of_many_nodes_is_normalised_block_by_block(case, dense, monkeypatch):
    monkeypatch.setattr("graphsct.graph.graph._ROWS", 2)
    assert_close(case.graph().matrix.to_dense(), dense.G, rtol=1e-14, atol=1e-14)
