"""Readouts: the features of a graph from those of its nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.names import pick

__all__ = ["READOUTS", "GraphScores", "Readout"]

#: The readouts by name, with the function of PyTorch Geometric that computes each.
READOUTS = {"mean": "global_mean_pool", "sum": "global_add_pool", "max": "global_max_pool"}


class Readout(torch.nn.Module):
    r"""One row of features for each graph, of the rows :math:`\mathbf h_v` of its nodes:

    .. math::
        \frac{1}{|V|} \sum_{v \in V} \mathbf h_v, \qquad \sum_{v \in V} \mathbf h_v \qquad
        \text{or} \qquad \max_{v \in V} \mathbf h_v

    Args:
        mode: ``mean``, ``sum`` or ``max``

    Shapes: ``(n, d), (n,) -> (num_graphs, d)``.
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        pick(READOUTS, mode, "readout")
        self.mode = mode

    def forward(self, x: Tensor, batch: Tensor | None = None) -> Tensor:
        """The features of the graphs.

        Args:
            x: features of the nodes; shape: ``(n, d)``
            batch: the graph of each node; all nodes are of one graph if left out; shape: ``(n,)``
        """
        from torch_geometric.nn import pool  # takes a second, and few need it

        pooled: Tensor = getattr(pool, READOUTS[self.mode])(x, batch)
        return pooled

    def extra_repr(self) -> str:
        """The mode."""
        return repr(self.mode)


class GraphScores(torch.nn.Module):
    """A model of PyTorch Geometric and the readout of its scores of nodes.

    Args:
        model: gives scores of nodes
        mode: ``mean``, ``sum`` or ``max``
    """

    def __init__(self, model: torch.nn.Module, mode: str) -> None:
        super().__init__()
        self.model, self.readout = model, Readout(mode)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        batch: Tensor | None = None,
    ) -> Tensor:
        """Scores of all graphs; shape: ``(num_graphs, out_channels)``.

        Args:
            x: features; shape: ``(n, in_channels)``
            edge_index: edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            batch: the graph of each node; one graph if left out; shape: ``(n,)``
        """
        scores: Tensor = self.readout(self.model(x, edge_index, edge_weight), batch)
        return scores
