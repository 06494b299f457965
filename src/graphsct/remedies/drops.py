"""Remedies that leave something out in training."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.nn.checks import check_rate
from graphsct.nn.drops import drop_nodes
from graphsct.nn.hidden_convolutions import find_convolutions
from graphsct.nn.linear import dropout
from graphsct.nn.model import Model
from graphsct.remedies.convolutions import DroppedConv, change_convolutions
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["DROPS", "EdgeDropout", "MessageDropout"]


class EdgeDropout:
    """A hook that leaves out edges of a model's input in training, both directions at once.

    Args:
        model: a model that is called with an ``edge_index``
        rate: rate at which edges are left out
    """

    def __init__(self, model: torch.nn.Module, rate: float) -> None:
        self.rate = check_rate(rate, "edge_dropout")
        self._signature = inspect.signature(model.forward)
        if "edge_index" not in self._signature.parameters:
            raise ModelError(
                f"{type(model).__name__} takes no edge_index, so no edges can be left out; it "
                f"takes {', '.join(self._signature.parameters)}"
            )

    def __call__(self, model: torch.nn.Module, args: Any, kwargs: Any) -> Any:
        """The arguments of the model, with fewer edges."""
        from torch_geometric.utils import dropout_edge  # the import takes a second

        if not model.training:
            return None
        call = self._signature.bind(*args, **kwargs)
        given = call.arguments
        given["edge_index"], kept = dropout_edge(
            given["edge_index"], self.rate, force_undirected=True
        )
        for name in ("edge_weight", "edge_attr"):
            if given.get(name) is not None:
                given[name] = given[name][kept]
        return call.args, call.kwargs


class MessageDropout:
    """A hook that drops entries of a convolution's messages in training.

    Args:
        rate: rate at which entries are dropped
    """

    def __init__(self, rate: float) -> None:
        self.rate = check_rate(rate, "message_dropout")

    def __call__(self, conv: torch.nn.Module, inputs: Any, messages: Tensor) -> Tensor:
        """The messages that are left, scaled up."""
        return dropout(messages, self.rate, conv.training, kind="edges")


def _drop_edges(model: torch.nn.Module, data: Any, rate: float) -> None:
    if isinstance(model, Model):
        model.edge_dropout = check_rate(rate, "edge_dropout")
    else:
        model.register_forward_pre_hook(EdgeDropout(model, rate), with_kwargs=True)


def _drop_messages(model: torch.nn.Module, data: Any, rate: float) -> None:
    if isinstance(model, Model):
        model.message_dropout = check_rate(rate, "message_dropout")
        return
    convs = [conv for conv, _ in find_convolutions(model)]
    if not convs or not all(hasattr(conv, "register_message_forward_hook") for conv in convs):
        raise ModelError(f"{type(model).__name__} has no convolution whose messages can be changed")
    for conv in convs:
        hooked: Any = conv
        hooked.register_message_forward_hook(MessageDropout(rate))


def _drop_before(
    model: torch.nn.Module,
    data: Any,
    rate: float,
    *,
    option: str,
    drop: Callable[[Tensor, float, bool], Tensor],
) -> None:
    """Drop before every convolution."""
    check_rate(rate, option)
    if isinstance(model, Model):
        setattr(model, option, rate)
    else:
        change_convolutions(
            model, data, lambda conv, width: DroppedConv(conv, rate, drop), hidden=False
        )


DROPS = (
    Remedy(
        "drop_edge",
        "DropEdge",
        "drops",
        "Rong et al., 2020",
        "https://arxiv.org/abs/1907.10903",
        "Fewer edges in each step mix features more slowly, and augment the data.",
        "GCN(..., edge_dropout=0.3), or torch_geometric.utils.dropout_edge(edge_index, 0.3)",
        {},
        Number("edge_dropout", (0.3, 0.6)),
        change=_drop_edges,
    ),
    Remedy(
        "drop_node",
        "DropNode",
        "drops",
        "Feng et al., 2020",
        "https://arxiv.org/abs/2005.11079",
        "Nodes learn not to depend on particular neighbours.",
        "GCN(..., node_dropout=0.5)",
        {},
        Number("node_dropout", (0.5, 0.2)),
        change=partial(_drop_before, option="node_dropout", drop=drop_nodes),
    ),
    Remedy(
        "drop_message",
        "DropMessage",
        "drops",
        "Fang et al., 2023",
        "https://arxiv.org/abs/2204.10037",
        "Each message loses different entries, which keeps messages diverse.",
        "GCN(..., message_dropout=0.5)",
        {},
        Number("message_dropout", (0.5, 0.2)),
        change=_drop_messages,
    ),
    Remedy(
        "dropout",
        "dropout before convolutions",
        "drops",
        "Srivastava et al., 2014; Luo et al., 2024",
        "https://arxiv.org/abs/2406.08993",
        "Features that are dropped before every convolution do not adapt to each other.",
        "GCN(..., conv_dropout=0.5)",
        {},
        Number("conv_dropout", (0.5, 0.2)),
        change=partial(_drop_before, option="conv_dropout", drop=dropout),
    ),
)
