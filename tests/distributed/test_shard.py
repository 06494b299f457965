from types import SimpleNamespace

import pytest
import torch
from zoo import ZOO

from graphsct import GraphError, datasets, geometry, smoothness
from graphsct.distributed import Part, write_partition
from graphsct.nn import GCN

CASES = {name: case for name, case in ZOO.items() if case.num_nodes >= 3}


def problem(case):
    """A data set on a graph of the zoo."""
    n = case.num_nodes
    masks = [torch.arange(n) == i for i in range(3)]
    return SimpleNamespace(
        name="zoo",
        graph=case.graph(),
        x=torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(n)),
        y=torch.arange(n) % 2,
        num_classes=2,
        train_mask=masks[0],
        val_mask=masks[1],
        test_mask=masks[2],
    )


def mixed(x, graph):
    """Something that is not linear in all that a graph does."""
    coordinates = graph.pool(x).tanh()
    return graph.propagate(x) + graph.propagate(graph.unpool(coordinates)).square()


def value_and_gradients(x, graph, factor):
    x = x.clone().requires_grad_()
    out = mixed(x, graph)
    (grad,) = torch.autograd.grad((factor * out).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((factor * grad).sum(), x)
    return out.detach(), grad.detach(), second


def on_all(folder):
    found = {}
    for name in CASES:
        part = Part.load(folder / name, torch.float64)
        factor = part.x.cos()
        found[name] = part.graph.nodes, *value_and_gradients(part.x, part.graph, factor)
    return found


@pytest.mark.parametrize("world", [2, 3])
def test_values_and_gradients_are_those_of_the_whole_zoo(workers, tmp_path, world):
    for name, case in CASES.items():
        write_partition(problem(case), tmp_path / name, world)
    answers = workers.run(world, on_all, tmp_path)
    for name, case in CASES.items():
        data = problem(case)
        expected = value_and_gradients(data.x, data.graph, data.x.cos())
        nodes, *found = map(torch.cat, zip(*(answer[name] for answer in answers), strict=True))
        for ours, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(ours, theirs[nodes], rtol=1e-12, atol=1e-12)


def bytes_of_a_layer(folder):
    part = Part.load(folder)
    counts = []
    for call in (part.graph.propagate, part.graph.pool):
        x = torch.ones(part.graph.num_nodes, 5, requires_grad=True)
        call(x).sum().backward()
        counts.append((part.graph.traffic.halo, part.graph.traffic.pooled))
    return len(part.graph.crossing), counts


def test_bytes_are_counted(workers, tmp_path):
    data = datasets.csbm(40, 60, num_components=4, seed=0)
    layout = write_partition(data, tmp_path, 2)
    for other, (crossing, counts) in zip(
        (1, 0), workers.run(2, bytes_of_a_layer, tmp_path), strict=True
    ):
        halo = 2 * layout.parts[other].halo * 5 * 4  # forward and backward, float32
        assert counts == [(halo, 0), (halo, 2 * crossing * 5 * 4)]


def test_what_needs_the_whole_is_refused(alone, tmp_path):
    write_partition(datasets.demo(), tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    shard = part.graph
    assert repr(shard) == "Shard(num_nodes=300, halo=0, num_components=3)"
    with pytest.raises(GraphError, match="no measure can be taken"):
        smoothness.normalized_smoothness(part.x, shard)
    with pytest.raises(GraphError, match="no measure can be taken"):
        smoothness.dirichlet_energy(part.x, shard)
    with pytest.raises(GraphError, match="no measure can be taken"):
        geometry.smoothness_range(part.x, shard, "relu")
    with pytest.raises(GraphError, match="ask its Layout"):
        _ = shard.num_edges
    with pytest.raises(GraphError, match="made where it is used"):
        shard.double()
    with pytest.raises(GraphError, match="299 rows but the graph has 300 nodes here"):
        shard.propagate(part.x[:-1])


def test_models_take_it_as_a_graph(alone, tmp_path):
    data = datasets.demo()
    write_partition(data, tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    model = GCN(16, 8, 3, num_layers=3, control="pooled", num_components=3)
    torch.testing.assert_close(model(part.x, part.graph), model(data.x, data.graph))
    part.graph.crossing = torch.arange(3)  # nothing comes from the others, who are not there
    torch.testing.assert_close(part.graph.pool(part.x), data.graph.pool(data.x))
