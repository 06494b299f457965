"""Remedies that change which features a layer gets."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.nn.connections import make_connections
from graphsct.nn.jumping import Jumping
from graphsct.nn.model import Model
from graphsct.nn.wrap import Initial
from graphsct.remedies.convolutions import (
    InitialConv,
    ResidualConv,
    change_convolutions,
    hidden_widths,
)
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["PATHS"]


def _add_residual(model: torch.nn.Module, data: Any, value: Any) -> None:
    if isinstance(model, Model):
        _connect(model, data, value, residual=True)
        return
    if all(one != other for one, other in pairwise(hidden_widths(model, data))):
        raise ModelError(
            f"{type(model).__name__} has no two successive hidden convolutions of equal width, so "
            "no input can be added to an output"
        )
    change_convolutions(model, data, lambda conv, width: ResidualConv(conv))


def _add_initial(model: torch.nn.Module, data: Any, share: float) -> None:
    if isinstance(model, Model):
        _connect(model, data, share, residual="initial", number="share")
        return
    widths, initial = hidden_widths(model, data), Initial()
    if len(set(widths)) > 1:
        raise ModelError(
            f"the hidden convolutions of {type(model).__name__} have "
            f"{', '.join(map(str, widths))} channels, but all would get the output of the first; "
            "make their widths equal"
        )
    change_convolutions(model, data, lambda conv, width: InitialConv(conv, share, initial))
    initial.follow(model)


def _connect(
    model: Any, data: Any, value: Any, *, residual: bool | str, number: str | None = None
) -> None:
    """Give one of our own connections to one of our models."""
    _check_layers(model)
    options = None if number is None else {number: value}
    made = make_connections(residual, model.hidden_channels, model.num_layers, options)
    model.residual = residual
    model.skips = torch.nn.ModuleList()
    model.connections = torch.nn.ModuleList(made).to(model.output.weight)


def _jump(model: Any, data: Any, value: Any, *, mode: str) -> None:
    """Let the output layer of one of our models see all layers; it gets new weights."""
    _check_layers(model)
    model.jumping = Jumping(mode)
    width = model.jumping.channels(model.hidden_channels, model.num_layers)
    model.output = torch.nn.Linear(width, model.out_channels).to(model.output.weight)


def _check_layers(model: Model) -> None:
    if not model.num_layers:
        raise ModelError(f"{model.title} has no convolutions to connect")


_GCN = ("gcn",)
_OTHER_MODEL = "it is another model"
_GCNII = ("Chen et al., 2020", "https://arxiv.org/abs/2007.02133")
_JUMPING = ("Xu et al., 2018", "https://arxiv.org/abs/1806.03536")

PATHS = (
    Remedy(
        "residual",
        "residual connections",
        "connections",
        "Kipf and Welling, 2017; Li et al., 2019",
        "https://arxiv.org/abs/1904.03751",
        "Each layer adds to its input, so features and gradients pass through all of them.",
        "GCN(..., residual=True), or x = conv(x, edge_index).relu() + x",
        {"residual": True},
        change=_add_residual,
    ),
    Remedy(
        "initial_residual",
        "initial connections",
        "connections",
        "Chen et al., 2021",
        "https://arxiv.org/abs/2108.10521",
        "Every layer gets a share of the first features again, so depth does not wear them away.",
        'GCN(..., residual="initial", residual_options={"share": 0.1})',
        {"residual": "initial"},
        Number("residual_options.share", (0.1, 0.5)),
        change=_add_initial,
    ),
    Remedy(
        "identity_mapping",
        "identity mapping",
        "connections",
        *_GCNII,
        "Weights near the identity do not mix the channels of a deep stack.",
        "GCNII(..., alpha=0.0, theta=0.5)",
        {"model": "gcnii", "alpha": 0.0},
        Number("theta", (0.5, 1.5)),
        reason=_OTHER_MODEL,
        bases=_GCN,
    ),
    Remedy(
        "gcnii",
        "GCNII",
        "connections",
        *_GCNII,
        "Initial residual and identity mapping together let a network of 64 layers learn.",
        "GCNII(..., alpha=0.1, theta=0.5)",
        {"model": "gcnii"},
        Number("alpha", (0.1, 0.5)),
        reason=_OTHER_MODEL,
        bases=_GCN,
    ),
    Remedy(
        "jumping_cat",
        "jumping knowledge, side by side",
        "connections",
        *_JUMPING,
        "The output layer sees all layers, so each node can use the depth that suits it.",
        'GCN(..., jumping="cat"), or torch_geometric.nn.GCN(..., jk="cat")',
        {"jumping": "cat"},
        change=partial(_jump, mode="cat"),
        ours_only=True,
    ),
    Remedy(
        "jumping_max",
        "jumping knowledge, maximum",
        "connections",
        *_JUMPING,
        "The output layer sees the largest value of each channel in all layers.",
        'GCN(..., jumping="max"), or torch_geometric.nn.GCN(..., jk="max")',
        {"jumping": "max"},
        change=partial(_jump, mode="max"),
        ours_only=True,
    ),
    Remedy(
        "dense",
        "dense connections",
        "connections",
        "Li et al., 2019",
        "https://arxiv.org/abs/1904.03751",
        "Each layer sees the features of all layers before it.",
        'GCN(..., residual="dense")',
        {"residual": "dense"},
        change=partial(_connect, residual="dense"),
        ours_only=True,
    ),
    Remedy(
        "gradient_gating",
        "gradient gating (G²)",
        "connections",
        "Rusch et al., 2023",
        "https://arxiv.org/abs/2210.00513",
        "A channel of a node stops changing where its neighbours agree with it.",
        'GCN(..., residual="gradient_gating", residual_options={"power": 2.0})',
        {"residual": "gradient_gating"},
        Number("residual_options.power", (2.0, 1.0)),
        change=partial(_connect, residual="gradient_gating", number="power"),
        ours_only=True,
    ),
    Remedy(
        "appnp",
        "APPNP",
        "connections",
        "Gasteiger et al., 2019",
        "https://arxiv.org/abs/1810.05997",
        "Predictions are propagated instead of features, without weights, and each step mixes in "
        "the first ones again.",
        "APPNP(..., num_layers=10, alpha=0.1)",
        {"model": "appnp"},
        Number("alpha", (0.1, 0.2)),
        reason=_OTHER_MODEL,
        bases=_GCN,
    ),
    Remedy(
        "dagnn",
        "DAGNN",
        "connections",
        "Liu et al., 2020",
        "https://arxiv.org/abs/2007.09296",
        "Predictions are propagated, and each node weighs the results of all steps.",
        "DAGNN(..., num_layers=10)",
        {"model": "dagnn"},
        reason=_OTHER_MODEL,
        bases=_GCN,
    ),
)
