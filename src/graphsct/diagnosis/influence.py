"""The influence of nodes on each other by their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csgraph, csr_array
from torch import Tensor

from graphsct.graph import Graph
from graphsct.records import Record

__all__ = ["Influence", "measure_influence"]

_NODES = 8  # whose influence is measured


class Far(NamedTuple):
    """The nodes in reach beyond half of the largest distance.

    Args:
        hops: half of the largest distance at which nodes have any influence
        nodes: share of the nodes in reach that are farther away
        influence: their share of the influence
    """

    hops: int
    nodes: float
    influence: float


@dataclass(frozen=True)
class Influence(Record):
    r"""The influence of the features of nodes on an output, by distance.

    The influence of node j on node i is :math:`\|\partial (\mathbf r^\top \mathbf y_i) / \partial
    \mathbf x_j\|` for a random direction :math:`\mathbf r`. All values are means over a few nodes.

    Args:
        shares: share of the influence of the nodes at distance 0, 1, ...
        nodes: number of nodes at distance 0, 1, ...
    """

    shares: tuple[float, ...]
    nodes: tuple[float, ...]

    @property
    def far(self) -> Far | None:
        """The nodes beyond half of the reach; ``None`` if the reach is less than six edges."""
        reach = max((hop for hop, share in enumerate(self.shares) if share > 0), default=0)
        if reach < 6:
            return None
        half = reach // 2
        inside = slice(half + 1, reach + 1)
        total = sum(self.nodes[: reach + 1])
        return Far(half, sum(self.nodes[inside]) / total, sum(self.shares[inside]))


def measure_influence(output: Tensor, entry: Tensor, graph: Graph) -> Influence | None:
    """The influence of the input of the first layer on an output; ``None`` if there is none.

    Args:
        output: in the autograd graph of ``entry``; shape: ``(n, outputs)``
        entry: shape: ``(n, d)``
        graph: the graph in which distances are counted
    """
    generator = torch.Generator().manual_seed(0)
    joined = (graph.edge_index[0].bincount(minlength=graph.num_nodes) > 0).nonzero()[:, 0].cpu()
    if not len(joined):
        return None
    chosen = joined[torch.randperm(len(joined), generator=generator)[:_NODES]]
    direction = torch.randn(output.shape[1], generator=generator).to(output)
    hops = _hops(graph, chosen)
    shares, nodes = np.zeros(0), np.zeros(0)
    for row, node in zip(hops, chosen.tolist(), strict=True):
        (gradient,) = torch.autograd.grad(
            direction @ output[node], entry, retain_graph=True, allow_unused=True
        )
        if gradient is None:
            return None
        own = torch.linalg.vector_norm(gradient.detach().double(), dim=1).cpu().numpy()
        if not own.sum() > 0:
            continue
        near = np.isfinite(row)
        distance = row[near].astype(int)
        length = max(len(shares), int(distance.max()) + 1)
        shares = np.pad(shares, (0, length - len(shares)))
        nodes = np.pad(nodes, (0, length - len(nodes)))
        shares += np.bincount(distance, own[near] / own.sum(), minlength=length)
        nodes += np.bincount(distance, minlength=length)
    if not shares.sum() > 0:
        return None
    last = int(shares.nonzero()[0][-1]) + 1
    count = len(chosen)
    return Influence(
        tuple((shares[:last] / shares.sum()).tolist()), tuple((nodes[:last] / count).tolist())
    )


def _hops(graph: Graph, nodes: Tensor) -> np.ndarray:
    """Distances of all nodes from some of them; shape: ``(k, n)``."""
    source, target = graph.edge_index.cpu().numpy()
    size = (graph.num_nodes, graph.num_nodes)
    matrix = csr_array((np.ones(len(source)), (source, target)), shape=size)
    found: np.ndarray = csgraph.dijkstra(matrix, indices=nodes.numpy(), unweighted=True)
    return found
