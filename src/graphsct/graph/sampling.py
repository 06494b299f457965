r"""Samples of the nodes of a graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph.adjacency import Adjacency

__all__ = ["restrict"]


def restrict(adjacency: Adjacency, nodes: Any) -> Adjacency:
    """The edges between some nodes, with the degrees and components of the whole graph.

    The time is proportional to the number of nodes and to the degrees of the chosen ones.

    Args:
        adjacency: adjacency of the whole graph or of a sample
        nodes: ids without repeats, in the wanted order, or a mask; shape: ``(k,)`` or ``(n,)``
    """
    n = len(adjacency.degree)
    chosen = _check_nodes(nodes, n)
    k = len(chosen)
    position = torch.full((n,), -1)
    position[chosen] = torch.arange(k)
    repeated = (position[chosen] != torch.arange(k)).nonzero()
    if len(repeated):
        raise GraphError(
            f"node {int(chosen[repeated[0]])} is listed more than once; a sample has each node "
            "once: pass nodes.unique(), or use a loader with disjoint=False"
        )

    first = adjacency.starts[chosen].long()
    count = adjacency.starts[chosen + 1].long() - first
    row = torch.arange(k).repeat_interleave(count)
    entry = torch.arange(len(row)) + (first - count.cumsum(0) + count).repeat_interleave(count)
    column = position[adjacency.columns[entry].long()]
    kept = (column >= 0).nonzero().squeeze(1)
    kept = kept[torch.argsort(row[kept] * k + column[kept])]  # CSR has its columns in order
    starts = torch.zeros(k + 1, dtype=torch.long)
    torch.cumsum(torch.bincount(row[kept], minlength=k), 0, out=starts[1:])
    return Adjacency(
        starts=starts.to(adjacency.starts.dtype),
        columns=column[kept].to(adjacency.columns.dtype),
        weight=None if adjacency.weight is None else adjacency.weight[entry[kept]],
        degree=adjacency.degree[chosen],
        component=adjacency.component[chosen],
        volume=adjacency.volume,
        whole=adjacency.whole,
    )


def _check_nodes(nodes: Any, n: int) -> Tensor:
    try:
        chosen = torch.as_tensor(nodes).cpu()
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            f"nodes is a {type(nodes).__name__} that is not a tensor: {error}; pass the ids of the "
            "sampled nodes, which PyTorch Geometric's loaders call batch.n_id"
        ) from error
    if chosen.dtype == torch.bool and chosen.shape == (n,):
        chosen = chosen.nonzero().squeeze(1)
    integral = not (chosen.is_floating_point() or chosen.is_complex() or chosen.dtype == torch.bool)
    if chosen.dim() != 1 or (len(chosen) and not integral):
        raise GraphError(
            f"nodes is {chosen.dtype} {tuple(chosen.shape)}, expected ids (k,) or a mask ({n},)"
        )
    if not len(chosen):
        raise GraphError("nodes is empty; a sample needs at least one node")
    chosen = chosen.long()
    for node in (int(chosen.min()), int(chosen.max())):
        if not 0 <= node < n:
            raise GraphError(f"nodes holds the id {node}; ids of this graph run from 0 to {n - 1}")
    return chosen
