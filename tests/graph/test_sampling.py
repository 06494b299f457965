import copy
import pickle

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader, RandomNodeLoader
from torch_geometric.nn import GATConv
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from torch_geometric.utils import k_hop_subgraph

from graphsct import Graph, GraphError, datasets, diagnose, fit, geometry, smoothness
from graphsct.nn import (
    GCN,
    GCNII,
    EnergeticConv,
    EnergeticGNN,
    GCN2Conv,
    GCNConv,
    SmoothnessControl,
    add_control,
)
from graphsct.training import TrainConfig

MODELS = {"gcn": GCN, "gcnii": GCNII, "egnn": EnergeticGNN}
KINDS = ("pooled", "gated", "gated_full")


@pytest.fixture(scope="module")
def data():
    return datasets.csbm(400, 1500, num_classes=3, num_features=8, num_components=3, seed=1)


def build(name, kind, data):
    torch.manual_seed(0)
    model = MODELS[name](
        8, 16, 3, num_layers=3, control=kind, num_components=data.graph.num_components
    )
    for parameter in model.parameters():  # controls start at zero, which would hide them
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def loss_and_gradients(model, x, graph, y):
    model.zero_grad()
    loss = F.cross_entropy(model(x, graph), y)
    loss.backward()
    return loss, [parameter.grad for parameter in model.parameters()]


def test_all_nodes_in_any_order_are_the_whole_graph(graph, dense, x):
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(3))
    part = graph.subgraph(order)
    assert not part.is_sample
    assert_close(part.matrix.to_dense(), dense.G[order][:, order], rtol=1e-14, atol=1e-14)
    assert_close(part.pool(x[order]), dense.Q.T @ x)
    assert_close(part.project(x[order]), (dense.P @ x)[order])


def test_a_sample_keeps_rows_of_the_whole_graph(graph, dense):
    nodes = torch.arange(graph.num_nodes).flip(0)[::2]
    part = graph.subgraph(nodes)
    assert part.is_sample == (len(nodes) < graph.num_nodes)
    assert (part.num_nodes, part.num_components) == (len(nodes), graph.num_components)
    assert_close(part.matrix.to_dense(), dense.G[nodes][:, nodes], rtol=1e-14, atol=1e-14)
    assert part.degree.equal(graph.degree[nodes])
    assert part.component.equal(graph.component[nodes])
    assert part.basis.equal(graph.basis[nodes])
    a = torch.randn(graph.num_components, 2, dtype=torch.float64)
    smooth, x = part.unpool(a), torch.randn(len(nodes), 2, dtype=torch.float64, requires_grad=True)
    assert_close(part.propagate(smooth), smooth)  # exact, whoever is missing
    gain = dense.degree[nodes] / (dense.adjacency[nodes][:, nodes].sum(1))
    assert_close(part.propagate(x), gain[:, None] * (dense.G[nodes][:, nodes] @ x))
    assert torch.autograd.gradcheck(part.propagate, x)
    columns = part.matrix.col_indices().split(part.matrix.crow_indices().diff().tolist())
    assert all(bool((row.diff() > 0).all()) for row in columns)


def test_pooling_a_sample_is_scaled_by_the_degrees_that_are_missing(graph, dense):
    nodes = torch.arange(graph.num_nodes)[: max(1, graph.num_nodes // 2)]
    part = graph.subgraph(nodes)
    rows = dense.Q[nodes]
    there = rows.square().sum(0)  # the share of each component's degrees
    expected = torch.where(there > 0, rows / there, 0).T
    x = torch.randn(len(nodes), 3, dtype=torch.float64, requires_grad=True)
    a = torch.randn(graph.num_components, 3, dtype=torch.float64)
    assert_close(part.pool(x), expected @ x)
    assert_close(part.unpool(a), rows @ a)
    assert_close(part.pool(part.unpool(a)), a * (there > 0).unsqueeze(1))  # smooth: exact
    assert torch.autograd.gradcheck(part.pool, x)
    assert torch.autograd.gradgradcheck(part.pool, x)


def test_a_sample_of_a_sample_and_copies_of_it(data):
    part = data.graph.subgraph(torch.arange(0, 400, 2))
    inner = part.subgraph(torch.arange(0, 200, 2))
    direct = data.graph.subgraph(torch.arange(0, 400, 4))
    x = torch.randn(100, 2)
    for same in (inner, copy.deepcopy(inner), pickle.loads(pickle.dumps(inner))):
        assert same.is_sample
        assert same.pool(x).equal(direct.pool(x))
        assert same.propagate(x).equal(direct.propagate(x))
    assert_close(inner.double().pool(x.double()).float(), direct.pool(x))


def test_a_mask_chooses_nodes_in_their_order(data):
    mask = torch.zeros(400, dtype=torch.bool)
    mask[[7, 3, 200]] = True
    assert data.graph.subgraph(mask).degree.equal(data.graph.degree[[3, 7, 200]])


def test_weights_stay_with_their_edges():
    weight = [0.5, 0.5, 2.0, 2.0, 3.0, 3.0]
    whole = Graph([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]], edge_weight=weight)
    part = whole.subgraph([2, 0])
    assert part.edge_weight.tolist() == [3, 3]
    assert part.edge_index.tolist() == [[0, 1], [1, 0]]
    assert part.degree.tolist() == [6, 4.5]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_of_all_nodes_is_full_batch_training(data, name, kind):
    model = build(name, kind, data)
    whole = loss_and_gradients(model, data.x, data.graph, data.y)
    part = data.graph.subgraph(torch.arange(400))
    batch = loss_and_gradients(copy.deepcopy(model), data.x, part, data.y)
    assert batch[0].equal(whole[0])
    assert all(a.equal(b) for a, b in zip(batch[1], whole[1], strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_takes_a_sample(data, kind):
    part = data.graph.subgraph(torch.arange(0, 400, 5))
    m = data.graph.num_components
    x, x_0 = torch.randn(2, 80, 8)
    layers = {
        SmoothnessControl(8, kind, num_components=m): (x, part, x_0),
        GCN2Conv(8, 0.1, 0.5, 1, control=kind, num_components=m): (x, x_0, part),
        EnergeticConv(8, control=kind, num_components=m): (x, x_0, part),
    }
    for layer, given in layers.items():
        assert layer(*given).shape == (80, 8)
    for conv in (
        GCNConv(8, 8, control=kind, num_components=m),
        add_control(GATConv(8, 8), kind, num_components=m),
    ):
        assert conv(x, part, x_0=x_0).shape == (80, 8)


@pytest.mark.parametrize("name", MODELS)
def test_without_control_seeds_with_all_their_neighbours_are_exact(data, name):
    model = build(name, None, data)
    nodes, _, seeds, _ = k_hop_subgraph([5, 17], 3, data.edge_index, num_nodes=400)
    assert len(nodes) < 400
    part = data.graph.subgraph(nodes)
    exact = model(data.x, data.graph)[[5, 17]]
    assert_close(model(data.x[nodes], part)[seeds], exact)


@pytest.mark.parametrize("method", ["pool", "propagate"])
def test_estimates_close_in_on_the_whole_as_samples_grow(data, method):
    graph = data.graph.double()
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 4, dtype=torch.float64, generator=generator)
    x = graph.propagate(x) + 2 * graph.degree.sqrt().unsqueeze(1)
    exact = getattr(graph, method)(x)
    row = int(graph.component.mode().values) if method == "pool" else int(graph.degree.argmax())
    others = torch.tensor([node for node in range(400) if node != row])
    error = []
    for size in (20, 80, 320):
        draws = []
        for _ in range(100):
            nodes = others[torch.randperm(399, generator=generator)[:size]]
            if method == "propagate":  # at a node that is there; its row is the first
                nodes = torch.cat([torch.tensor([row]), nodes])
            estimate = getattr(graph.subgraph(nodes), method)(x[nodes])
            draws.append(estimate[row if method == "pool" else 0] - exact[row])
        errors = torch.stack(draws)
        error.append(errors.square().mean().sqrt())
        if method == "pool":  # ratios are biased, by much less than they scatter
            assert errors.mean(0).abs().max() < 0.5 * errors.std(0).max()
    assert error[0] > 1.3 * error[1] > 1.3 * 1.3 * error[2]
    assert error[2] < 0.05 * exact[row].norm()


def batches_are_parts(loader, data):
    seen = []
    model = build("gcn", "pooled", data)
    for batch in loader:
        part = data.graph.subgraph(batch.n_id)
        assert part.degree.equal(data.graph.degree[batch.n_id])
        assert model(batch.x, part).shape == (batch.num_nodes, 3)
        seen.append(batch.n_id)
    return torch.cat(seen)


def test_the_random_loader_of_pyg(data):
    data = data.clone()
    data.n_id = torch.arange(400)
    seen = batches_are_parts(RandomNodeLoader(data, num_parts=3, shuffle=True), data)
    assert seen.sort().values.equal(torch.arange(400))


@pytest.mark.skipif(
    not (WITH_PYG_LIB or WITH_TORCH_SPARSE),
    reason="neither pyg-lib nor torch-sparse is installed: NeighborLoader cannot sample",
)
def test_the_neighbour_loader_of_pyg(data):
    loader = NeighborLoader(data, [5, 5], batch_size=50, shuffle=True)
    assert set(batches_are_parts(loader, data).tolist()) == set(range(400))


def test_fit_takes_a_sample_and_does_not_use_the_engine_for_it(data):
    nodes = torch.arange(0, 400, 2)
    batch = data.subgraph(nodes)
    batch.graph = data.graph.subgraph(nodes)
    run = fit(build("gcn", "pooled", data), batch, TrainConfig(epochs=3))
    assert len(run.history) == 3


@pytest.mark.parametrize(
    "measure",
    [
        smoothness.distance_to_eigenspace,
        smoothness.dirichlet_energy,
        smoothness.normalized_dirichlet_energy,
        smoothness.normalized_smoothness,
        geometry.sphere,
        lambda x, graph: geometry.smoothness_range(x, graph, torch.nn.ReLU()),
        lambda x, graph: geometry.solve_alpha(x, graph, 0.9, torch.nn.ReLU()),
        lambda x, graph: smoothness.equivalence_constants(graph),
        lambda x, graph: diagnose(GCN(8, 4, 3, num_layers=2), Data(x=x, graph=graph)),
    ],
)
def test_measures_refuse_a_sample(data, measure):
    part = data.graph.subgraph(torch.arange(100))
    with pytest.raises(GraphError, match=r"sample of 100 out of 400 nodes.*with the whole graph"):
        measure(data.x[:100], part)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0, 400], r"nodes holds the id 400; ids of this graph run from 0 to 399"),
        ([-1, 3], r"nodes holds the id -1"),
        ([4, 2, 4], r"node 4 is listed more than once.*nodes\.unique\(\)"),
        ([], r"nodes is empty"),
        ([0.5], r"nodes is torch\.float32 \(1,\), expected ids \(k,\) or a mask \(400,\)"),
        (torch.ones(3, dtype=torch.bool), r"nodes is torch\.bool \(3,\)"),
        (torch.zeros(2, 2, dtype=torch.long), r"nodes is torch\.int64 \(2, 2\)"),
        (None, r"nodes is a NoneType that is not a tensor.*batch\.n_id"),
    ],
)
def test_wrong_nodes_are_refused(data, nodes, message):
    with pytest.raises(GraphError, match=message):
        data.graph.subgraph(nodes)


def test_features_of_a_batch_with_the_whole_graph_get_a_hint(data):
    with pytest.raises(GraphError, match=r"100 rows but the graph has 400 nodes; for a batch of"):
        data.graph.propagate(data.x[:100])
