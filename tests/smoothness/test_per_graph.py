import inspect

import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError, smoothness
from graphsct.errors import DirectedGraphError

MEASURES = {
    name: f for name, (f, _) in smoothness.MEASURES.items() if name != "group_distance_ratio"
}
WITH_GRAPH = {name: f for name, f in MEASURES.items() if "graph" in inspect.signature(f).parameters}


def join(names):
    """Some graphs of the zoo as one, with the graph of each node, the nodes shuffled."""
    edges, weights, batch = [], [], []
    for number, name in enumerate(names):
        edge_index, weight = ZOO[name].inputs()
        edges.append(edge_index + len(batch))
        weights.append(torch.ones(edge_index.shape[1]).double() if weight is None else weight)
        batch += [number] * ZOO[name].num_nodes
    new = torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))
    graph = Graph(new[torch.cat(edges, 1)], len(batch), torch.cat(weights))
    return graph, torch.tensor(batch)[new.argsort()], new


NAMES = ["weighted_self_loops", "many_components", "one_node", "star"]


@pytest.mark.parametrize("name", MEASURES)
def test_a_batch_has_the_value_of_each_graph(name):
    measure = MEASURES[name]
    graph, batch, new = join(NAMES)
    x = torch.randn(len(batch), 3, dtype=torch.float64, requires_grad=True)
    parts = x[new].split([ZOO[name].num_nodes for name in NAMES])
    if name in WITH_GRAPH:
        found = measure(x, graph, batch=batch)
        alone = [measure(p, ZOO[n].graph()) for n, p in zip(NAMES, parts, strict=True)]
    else:
        found = measure(x, batch=batch)
        alone = [measure(part) for part in parts]
    assert_close(found, torch.stack(alone), rtol=1e-10, atol=1e-12)
    expected = torch.autograd.grad(torch.stack(alone).sum(), x, retain_graph=True)
    assert_close(torch.autograd.grad(found.sum(), x), expected)


@pytest.mark.parametrize("name", WITH_GRAPH)
def test_an_edge_index_is_a_graph_without_weights(name):
    edge_index, _ = ZOO["isolated_nodes"].inputs()
    x = torch.randn(7, 3, dtype=torch.float64)
    expected = WITH_GRAPH[name](x, ZOO["isolated_nodes"].graph())
    assert_close(WITH_GRAPH[name](x, edge_index), expected, rtol=0, atol=0)
    assert_close(WITH_GRAPH[name](x=x, graph=edge_index), expected, rtol=0, atol=0)


def test_directed_edges_are_refused():
    with pytest.raises(DirectedGraphError, match="symmetrize=True"):
        smoothness.mean_average_distance(torch.ones(2, 1), torch.tensor([[0], [1]]))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (torch.tensor([0, 0, 1]), r"batch is torch.int64 \(3,\), expected .* \(2,\)"),
        (torch.tensor([0.0, 1.0]), r"batch is torch.float32 \(2,\), expected a torch.int64"),
        ([0, 1], r"batch is \[0, 1\], expected a torch.int64 tensor"),
        (torch.tensor([1, 1]), "graph 0 of batch has no nodes; number the graphs without gaps"),
        (torch.tensor([0, -1]), "batch has a graph -1, expected numbers from 0"),
        (torch.tensor([1, 0]), "edge from node 0 to 1 joins graphs 1 and 0 of batch"),
    ],
)
def test_bad_batches_are_named(batch, message):
    with pytest.raises(GraphError, match=message):
        smoothness.dirichlet_energy(
            torch.ones(2, 1).double(), ZOO["two_nodes"].graph(), batch=batch
        )


def test_a_sample_has_no_measures_of_its_graphs():
    sample = ZOO["path"].graph().subgraph([0, 1])
    with pytest.raises(GraphError, match="this graph is a sample"):
        smoothness.mean_average_distance(
            torch.ones(2, 1).double(), sample, batch=torch.tensor([0, 0])
        )


def test_a_sample_has_no_measures():
    sample = ZOO["path"].graph().subgraph([0, 1])
    for measure in WITH_GRAPH.values():
        with pytest.raises(GraphError, match="this graph is a sample"):
            measure(torch.ones(2, 1).double(), sample)
