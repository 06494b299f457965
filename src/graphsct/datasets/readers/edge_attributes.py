"""Attributes of edges, which models of other libraries may take beside the weights."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import DataError

__all__ = ["edge_attributes"]


def edge_attributes(
    source: Any, listed: Tensor, edge_index: Tensor, num_nodes: int, name: str
) -> dict[str, Tensor]:
    """The attributes of edges of a ``Data``, in the order of other edges.

    An edge that was added as the reverse of another has its attributes. Attributes that may be
    weights are refused, because ignoring them would change the graph.

    Args:
        source: the ``Data`` that has the attributes
        listed: its edges; shape: ``(2, num_edges)``
        edge_index: the edges in their new order; shape: ``(2, num_entries)``
        num_nodes: number of nodes
        name: its name in an error
    """
    keys = source.edge_attrs() if hasattr(source, "edge_attrs") else []
    found = {key: source[key] for key in keys if key not in ("edge_index", "edge_weight", "adj_t")}
    found = {key: value for key, value in found.items() if isinstance(value, Tensor)}
    if not found:
        return {}
    if "edge_attr" in found and getattr(source, "edge_weight", None) is None:
        _check_use(found["edge_attr"], name)
    order = _order(listed, edge_index, num_nodes, name)
    return {key: value[order] for key, value in found.items()}


def _check_use(attr: Tensor, name: str) -> None:
    """Refuse what may be weights, and warn of what the operator of a graph cannot use."""
    if attr.dim() > 1 and attr.shape[1] > 1:
        warnings.warn(
            f"edge_attr has {attr.shape[1]} columns, which only models that take edge_attr see; "
            "the graph, and all models of graphsct, use edge_weight",
            stacklevel=4,
        )
    elif bool((attr > 0).all()) and bool((attr != attr.reshape(-1)[0]).any()):
        raise DataError(
            f"{name} has no edge_weight, but its edge_attr is a column of positive numbers. If "
            "they are weights: data.edge_weight = data.edge_attr.view(-1); if not: "
            "data.edge_weight = torch.ones(data.num_edges)"
        )


def _order(listed: Tensor, edge_index: Tensor, num_nodes: int, name: str) -> Tensor:
    """Where each edge, or else its reverse, is listed; shape: ``(num_entries,)``."""
    keys, order = (num_nodes * listed[0] + listed[1]).sort()
    twice = (keys.diff() == 0).nonzero()
    if len(twice):
        pair = listed[:, order[twice[0]]].flatten().tolist()
        raise DataError(
            f"{name} lists the edge {pair} twice, so that its attributes are unclear; join them "
            "with torch_geometric.utils.coalesce(edge_index, edge_attr)"
        )
    ends = torch.stack([edge_index, edge_index.flip(0)])
    wanted = num_nodes * ends[:, 0] + ends[:, 1]
    place = torch.searchsorted(keys, wanted).clamp_max(len(keys) - 1)
    return order[torch.where(keys[place[0]] == wanted[0], place[0], place[1])]
