"""The models of PyTorch Geometric by name, such as ``pyg:GAT``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.graph.cache import graph_of
from graphsct.nn.activations import make_activation
from graphsct.nn.blueprint import (
    DEFAULTS,
    MODELS,
    ForeignModel,
    Space,
    call_constructor,
    num_inputs,
    num_outputs,
)
from graphsct.nn.checks import check_depth, check_size
from graphsct.nn.control_model import THETA, add_control_for
from graphsct.nn.readout import GraphScores

__all__ = ["CONVOLUTIONS", "GeometricModel"]

#: The models of PyTorch Geometric, each with its convolution.
CONVOLUTIONS = {
    "GCN": "GCNConv",
    "GraphSAGE": "SAGEConv",
    "GIN": "GINConv",
    "GAT": "GATConv",
    "PNA": "PNAConv",
    "EdgeCNN": "EdgeConv",
}

# Options that are not in the signatures, or that we give ourselves.
_MORE: Mapping[str, tuple[str, ...]] = {"GAT": ("v2",)}
_GIVEN = ("self", "nn", "in_channels", "hidden_channels", "out_channels", "num_layers", "deg")


@dataclass
class GeometricModel(ForeignModel):
    """A model of PyTorch Geometric, ``torch_geometric.nn.GAT`` and its kin.

    Its options are those of its class and of its convolution, under PyTorch Geometric's names, and
    ``activation``, which takes our names. With ``readout`` the scores of the nodes become those of
    their graphs. PNA counts the degrees of the graph it is built for.

    Args:
        kind: name of the class

    Example:
        >>> from graphsct.datasets import demo
        >>> options = {"heads": 2, "dropout": 0.5}
        >>> gat = MODELS["pyg:GAT"]
        >>> gat.build(demo(), hidden=8, depth=3, control=None, options=options)
        GAT(16, 3, num_layers=3)
    """

    kind: str

    @property
    def name(self) -> str:
        """The name in settings and commands."""
        return f"pyg:{self.kind}"

    @property
    def title(self) -> str:
        """The name in tables and figures."""
        return f"{self.kind} of PyTorch Geometric"

    def options(self) -> tuple[str, ...]:
        """Names of the options of the class and its convolution, and those of a control."""
        return _options(self.kind)

    def takes(self, setting: str) -> bool:
        """Whether there is such an option, or it is the depth or the width."""
        return setting in (*DEFAULTS, *self.options())

    def defaults(self) -> Mapping[str, Any]:
        """The depth, width and dropout of a model if they are left out."""
        return DEFAULTS

    def searched(self) -> tuple[str, ...]:
        """The settings that models share; there is one weight decay for all weights."""
        return ("dense_weight_decay", *DEFAULTS, "activation")

    def search_space(self, control: str | None) -> Space:
        """The number of heads of GAT."""
        return {"heads": (1, 2, 4, 8)} if self.kind == "GAT" else {}

    def build(
        self,
        data: Any,
        *,
        hidden: int | None,
        depth: int | None,
        control: str | None,
        options: Mapping[str, Any],
    ) -> torch.nn.Module:
        """A new model for some data; see :class:`~graphsct.nn.blueprint.Blueprint`."""
        import torch_geometric.nn as pyg  # takes a second

        width, given = check_size(hidden, "hidden"), dict(options)
        theta, readout = given.pop("theta", THETA), given.pop("readout", None)
        control_options = given.pop("control_options", None)
        if "activation" in given:
            if "act" in given:
                raise ModelError(f"act and activation are one option of {self.name}: choose one")
            given["act"] = make_activation(given.pop("activation"), width)
        if self.kind == "PNA":
            given = _of_pna(data) | given
        sizes = num_inputs(data), width, check_depth(depth, "depth"), num_outputs(data)
        model = call_constructor(getattr(pyg, self.kind), self.name, *sizes, **given)
        last = given.get("jk") is None  # with it, a linear layer follows
        model = add_control_for(data, model, control, theta, control_options, last=last)
        return model if readout is None else GraphScores(model, readout)


@cache
def _options(kind: str) -> tuple[str, ...]:
    import torch_geometric.nn as pyg

    classes = getattr(pyg, kind), getattr(pyg, CONVOLUTIONS[kind])
    signatures = [inspect.signature(made.__init__).parameters.values() for made in classes]
    names = [p.name for taken in signatures for p in taken if p.kind is not p.VAR_KEYWORD]
    more = (*_MORE.get(kind, ()), "activation", "readout", "control", "theta", "control_options")
    return tuple(name for name in dict.fromkeys((*names, *more)) if name not in _GIVEN)


def _of_pna(data: Any) -> dict[str, Any]:
    """The aggregations and scales of the paper of PNA, and how many nodes have each degree."""
    graph = graph_of(data)
    degree = torch.bincount(graph.edge_index[1], minlength=graph.num_nodes)
    return {
        "aggregators": ["mean", "min", "max", "std"],
        "scalers": ["identity", "amplification", "attenuation"],
        "deg": torch.bincount(degree).cpu(),
    }


MODELS |= {model.name: model for model in map(GeometricModel, CONVOLUTIONS)}
