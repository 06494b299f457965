"""Small graphs with known answers, as undirected edge lists."""

from dataclasses import dataclass

import numpy as np
import torch

from graphsct import Graph


@dataclass(frozen=True)
class Case:
    """One graph: each undirected edge once, self-loops allowed."""

    edges: tuple[tuple[int, int], ...]
    num_nodes: int
    num_components: int
    weights: tuple[float, ...] | None = None

    def inputs(self):
        """Both directions of every edge, as a user would hold them."""
        pairs = list(self.edges) + [(j, i) for i, j in self.edges if i != j]
        edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
        if self.weights is None:
            return edge_index, None
        back = [w for w, (i, j) in zip(self.weights, self.edges, strict=True) if i != j]
        return edge_index, torch.tensor([*self.weights, *back], dtype=torch.float64)

    def graph(self, dtype=torch.float64):
        edge_index, edge_weight = self.inputs()
        return Graph(edge_index, self.num_nodes, edge_weight, dtype=dtype)


def long_graph(kind, nodes):
    """Edges, each once, and components of a graph that is cheap to build at any size."""
    node = np.arange(nodes)
    if kind == "star":
        return np.stack([np.zeros(nodes - 1, int), node[1:]]), np.zeros(nodes, int)
    component = {
        "path": np.zeros(nodes, int),
        "few_paths": 4 * node // nodes,
        "path_and_pairs": np.maximum(0, node - nodes // 2 + 2) // 2,
    }[kind]
    edges = np.stack([node[:-1], node[1:]])
    return edges[:, component[:-1] == component[1:]], component


ZOO = {
    "connected": Case(((0, 1), (1, 2), (2, 3), (3, 0), (1, 3), (3, 4), (4, 5)), 6, 1),
    "many_components": Case(((0, 3), (3, 5), (5, 0), (1, 4), (2, 6), (6, 7), (7, 8)), 9, 3),
    "isolated_nodes": Case(((0, 2), (2, 4), (4, 0), (4, 5)), 7, 4),
    "weighted": Case(((0, 1), (1, 2), (2, 0), (2, 3)), 5, 2, weights=(0.5, 2.0, 3.5, 0.1)),
    "self_loops": Case(((0, 0), (0, 1), (1, 2), (2, 2)), 3, 1),
    "weighted_self_loops": Case(((0, 0), (0, 1), (1, 2), (3, 3)), 4, 2, weights=(4.0, 7.0, 0.3, 9)),
    "heavy_edge": Case(((0, 1),), 2, 1, weights=(50.0,)),
    "star": Case(tuple((0, i) for i in range(1, 8)), 8, 1),
    "path": Case(tuple((i, i + 1) for i in range(6)), 7, 1),
    "two_nodes": Case(((0, 1),), 2, 1),
    "one_node": Case((), 1, 1),
}
