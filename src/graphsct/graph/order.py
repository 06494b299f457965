"""An order of the nodes in which neighbours stand close to each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from graphsct.graph.adjacency import Adjacency
from graphsct.graph.kernels import MANY_NODES

__all__ = ["cache_order"]

Nodes = npt.NDArray[np.int64]

#: Consecutive nodes whose neighbours a product should find in the cache, and how often we look.
_ROWS, _SAMPLES = 1 << 10, 64
#: The share of the reads from memory that an order may leave to be worth its time.
_WORTH = 0.8


def cache_order(adjacency: Adjacency) -> Tensor | None:
    """The nodes of a large graph in reverse Cuthill-McKee order; shape: ``(n,)``.

    ``None`` if the graph is small, or if the nodes stand well as they are.
    """
    n = len(adjacency.degree)
    if n < MANY_NODES:
        return None
    starts, columns = adjacency.starts.numpy(), adjacency.columns.numpy()
    pattern = csr_array((np.ones(len(columns), dtype=np.int8), columns, starts), shape=(n, n))
    order: Nodes = reverse_cuthill_mckee(pattern, symmetric_mode=True).astype(np.int64)
    pays = _reads(pattern, order) <= _WORTH * _reads(pattern, np.arange(n))
    return torch.from_numpy(order) if pays else None


def _reads(pattern: csr_array, order: Nodes) -> float:
    """The share of the neighbours of some consecutive nodes that no node before has read."""
    new = total = 0
    for first in np.linspace(0, len(order) - _ROWS, _SAMPLES).astype(np.int64):
        neighbours = pattern[order[first : first + _ROWS]].indices
        new += len(np.unique(neighbours))
        total += len(neighbours)
    return new / total
