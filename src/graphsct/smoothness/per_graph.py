"""What every measure takes: a graph or its edges, and which graph of a batch each node is in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, overload

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import Graph
from graphsct.graph.cache import as_graph
from graphsct.smoothness.features import check_labels, check_matrix

__all__ = ["per_graph"]

P = ParamSpec("P")


@overload
def per_graph(
    measure: Callable[Concatenate[Tensor, Graph, P], Tensor],
) -> Callable[Concatenate[Tensor, Graph | Tensor, P], Tensor]: ...
@overload
def per_graph(measure: Callable[P, Tensor]) -> Callable[P, Tensor]: ...
def per_graph(measure: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a measure take an ``edge_index`` as its graph, and a ``batch`` of graphs.

    The measure declares ``batch`` for its signature and never sees it: it is called once for each
    graph, and the values are stacked.
    """
    signature = inspect.signature(measure)

    @wraps(measure)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        given: dict[str, Any] = signature.bind(*args, **kwargs).arguments
        batch = given.pop("batch", None)
        if "graph" in given:
            given["graph"] = as_graph(given["graph"], None, given["x"])
        if batch is None:
            return measure(**given)
        given["x"] = check_matrix(given["x"])
        groups = _nodes(batch, given["x"])
        parts: list[dict[str, Any]] = [{"x": given["x"][nodes]} for nodes in groups]
        if "graph" in given:
            for part, graph in zip(parts, _graphs(given["graph"], batch, groups), strict=True):
                part["graph"] = graph
        return torch.stack([measure(**{**given, **part}) for part in parts])

    return call


def _nodes(batch: Tensor, x: Tensor) -> list[Tensor]:
    """The nodes of each graph of a batch."""
    if len(check_labels(batch, "batch", x)) and int(batch.min()) < 0:
        raise GraphError(f"batch has a graph {int(batch.min())}, expected numbers from 0")
    sizes = torch.bincount(batch).tolist()
    if not sizes or not all(sizes):
        empty = sizes.index(0) if sizes else 0
        raise GraphError(f"graph {empty} of batch has no nodes; number the graphs without gaps")
    return list(torch.split(torch.argsort(batch, stable=True), sizes))


def _graphs(graph: Graph, batch: Tensor, groups: list[Tensor]) -> Iterator[Graph]:
    """The graphs of a batch, from the graph that holds all of them."""
    graph.check_whole()
    adjacency, batch = graph.adjacency, batch.cpu()
    row = torch.arange(graph.num_nodes).repeat_interleave(adjacency.starts.diff())
    edges = torch.stack([row, adjacency.columns.long()])
    owner, other = batch[edges]
    if bool((owner != other).any()):
        i, j = edges[:, owner != other][:, 0].tolist()
        raise GraphError(
            f"the edge from node {i} to {j} joins graphs {batch[i]} and {batch[j]} of batch; "
            "check batch, or measure them as one graph without it"
        )
    position = torch.empty_like(batch)
    for nodes in groups:
        position[nodes.cpu()] = torch.arange(len(nodes))
    entries = torch.split(torch.argsort(owner, stable=True), torch.bincount(owner).tolist())
    for nodes, part in zip(groups, entries, strict=True):
        weight = None if adjacency.weight is None else adjacency.weight[part]
        edge_index = position[edges[:, part]]
        yield Graph(edge_index, len(nodes), weight, dtype=graph.dtype, device=graph.device)
