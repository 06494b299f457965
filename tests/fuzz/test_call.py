"""Odd arguments of the functions that everybody calls."""

import inspect

import networkx as nx
import torch
from fuzzing import check_all, in_shares
from mutations import PLAIN, odd_edges, odd_value
from torch_geometric.data import Data

from graphsct import Graph, datasets, diagnose, fit, geometry, smoothness
from graphsct.nn import GCN
from graphsct.training import TrainConfig

NODES = 8
GRAPH = Graph([[0, 1, 1, 2, 3, 4, 6, 7], [1, 0, 2, 1, 4, 3, 7, 6]], NODES)


def graphs(draw, folder):
    """Edges, weights, numbers of nodes and places of a graph, and what it does."""
    weight = odd_value(draw, 4) if draw.random() < 0.2 else None
    count = draw.choice([None, NODES] * 20 + PLAIN)
    graph = Graph(odd_edges(draw, NODES), count, weight, symmetrize=draw.random() < 0.5)
    graph = graph.to(draw.choice(["cpu"] * 9 + ["cuda", "gpu", torch.float64, torch.int64, []]))
    verb = draw.choice([graph.propagate, graph.pool, graph.unpool, graph.project, graph.subgraph])
    return verb(odd_value(draw, graph.num_nodes))


def measures(draw, folder):
    """Measures of smoothness of odd features, on a graph or on odd edges."""
    names = [*smoothness.MEASURES, "dead_dimensions", "contraction_bound"]
    name = draw.choice(names)
    measure = smoothness.MEASURES.get(name, (getattr(smoothness, name, None),))[0]
    given = inspect.signature(measure).parameters
    graph = GRAPH if draw.random() < 0.8 or name == "contraction_bound" else odd_edges(draw, NODES)
    options = {"graph": graph} if "graph" in given else {}
    options |= {"y": odd_value(draw, NODES)} if "y" in given else {}
    if "batch" in given and draw.random() < 0.2:
        options["batch"] = odd_value(draw, NODES)
    return measure(odd_value(draw, NODES), **options)


def shapes(draw, folder):
    """Geometry of odd features."""
    z, activation = odd_value(draw, NODES), draw.choice([*geometry.ACTIVATIONS, "tanh", 3, None])
    match draw.randrange(3):
        case 0:
            return geometry.sphere(z, GRAPH, draw.choice([0.0, 0.1, -1, 1, 2.5]))
        case 1:
            return geometry.smoothness_range(z, GRAPH, activation)
        case _:
            return geometry.solve_alpha(
                z, GRAPH, draw.choice([0.9, odd_value(draw, 1)]), activation
            )


def data_objects(draw, folder):
    """A ``Data`` with odd attributes, read, and looked at as training does."""
    data = Data(edge_index=GRAPH.edge_index, x=torch.ones(NODES, 2), y=torch.arange(NODES) % 2)
    for i, part in enumerate(("train_mask", "val_mask", "test_mask")):
        data[part] = torch.arange(NODES) // 2 % 3 == i
    for _ in range(draw.choice([1, 1, 2])):
        part = draw.choice(["edge_index", "x", "y", "train_mask", "test_mask", "edge_weight"])
        edges = part == "edge_index"
        data[part] = odd_edges(draw, NODES) if edges else odd_value(draw, NODES)
    match draw.randrange(4):
        case 0:
            return fit(GCN(2, 4, 2, 2), data, TrainConfig(epochs=1))
        case 1:
            return datasets.from_graphs([data, data])
        case _:
            return datasets.open_data(data, features=draw.choice([None, None, "degree", "odd"]))


def networks(draw, folder):
    """NetworkX graphs with odd attributes."""
    graph = draw.choice([nx.path_graph(NODES), nx.DiGraph([(0, 1)]), nx.Graph(), nx.star_graph(3)])
    for node in graph:
        if draw.random() < 0.9:
            graph.nodes[node]["f"] = draw.choice([[1.0, 2.0], [1.0, 2.0], odd_value(draw, 2)])
            graph.nodes[node]["y"] = draw.choice(PLAIN)
    for edge in graph.edges:
        graph.edges[edge]["w"] = draw.choice([1, 1, 1, *PLAIN])
    names = {"features": "f", "label": "y", "weight": "w"}
    return datasets.from_networkx(graph, **{k: v for k, v in names.items() if draw.random() < 0.5})


def diagnoses(draw, folder):
    """A diagnosis of a model with odd features or edges."""
    data = Data(edge_index=GRAPH.edge_index, x=torch.ones(NODES, 2), y=torch.arange(NODES) % 2)
    part = draw.choice(["x", "y", "edge_index"])
    data[part] = odd_value(draw, NODES)
    return diagnose(GCN(2, 4, 2, 2), data)


#: Kinds of inputs, with their numbers in a whole run.
KINDS = {
    graphs: 900,
    measures: 900,
    shapes: 500,
    data_objects: 500,
    networks: 500,
    diagnoses: 200,
}


@in_shares
def test_only_our_errors_escape(tmp_path, capsys, share):
    check_all(KINDS, share, tmp_path, capsys)
