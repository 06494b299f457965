"""Dropout of whole nodes and of messages."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.dropout import dropout

__all__ = ["drop_messages", "drop_nodes", "without_drops"]


def drop_nodes(x: Tensor, p: float, training: bool) -> Tensor:
    r"""Set each row to zero with probability ``p`` and scale up the others (DropNode, `Feng et al.,
    2020 <https://arxiv.org/abs/2005.11079>`_): :math:`\mathbf x_i \mapsto \epsilon_i \mathbf x_i /
    (1 - p)` with :math:`\epsilon_i \in \{0, 1\}`.

    Args:
        x: features; shape: ``(n, d)``
        p: the rate, in [0, 1)
        training: without it nothing is dropped
    """
    if not training or p == 0:
        return x
    kept: Tensor = dropout(torch.ones_like(x[:, :1]), p)
    return x * kept


def drop_messages(graph: Graph, p: float, training: bool) -> Graph:
    r"""Drop each entry of each message with probability ``p`` and scale up the others (DropMessage,
    `Fang et al., 2023 <https://arxiv.org/abs/2204.10037>`_):

    .. math::
        (\mathbf G \mathbf X)_{ik} \mapsto \sum_j \frac{\epsilon_{ijk}}{1 - p} g_{ij} x_{jk},
        \qquad \epsilon_{ijk} \in \{0, 1\}

    Args:
        graph: the graph
        p: the rate, in [0, 1)
        training: without it nothing is dropped

    Returns:
        The same graph with another :meth:`~graphsct.Graph.propagate`
    """
    if not training or p == 0:
        return graph
    graph.check_whole()
    return _DroppedMessages(graph, p)


def without_drops(graph: Graph) -> Graph:
    """The graph that :func:`drop_messages` was given; any other graph is returned unchanged."""
    return graph.whole if isinstance(graph, _DroppedMessages) else graph


class _DroppedMessages(Graph):
    """A graph that loses messages, others in each product."""

    def __init__(self, graph: Graph, p: float) -> None:
        self.__dict__.update(graph.__dict__)
        self.whole, self._rate = graph, p

    def propagate(self, x: Tensor) -> Tensor:
        """One step of message passing without the messages that are lost."""
        starts, sender = self.matrix.crow_indices().long(), self.matrix.col_indices().long()
        receiver = torch.arange(self.num_nodes, device=x.device).repeat_interleave(starts.diff())
        messages = self.matrix.values()[:, None] * self.check_features(x)[sender]
        lost = dropout(messages, self._rate, kind="edges")
        return torch.zeros_like(x).index_add(0, receiver, lost)
