"""Remedies that change the weights: how they start, decay, and learn in the first epochs."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.nn.hidden_convolutions import find_convolutions
from graphsct.nn.model import Model
from graphsct.nn.starts import initialize
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["STARTS"]


def _start(model: torch.nn.Module, data: Any, gain: float | None, *, init: str) -> None:
    """Draw the weights of all convolutions anew."""
    weights = [
        weight
        for conv in _convolutions(model)
        for name, weight in conv.named_parameters()
        if weight.dim() == 2 and "weight" in name and "control" not in name
    ]
    if init == "identity":
        weights = [weight for weight in weights if weight.shape[0] == weight.shape[1]]
    if not weights:
        shape = "square matrix" if init == "identity" else "matrix"
        raise ModelError(
            f"{type(model).__name__} has no convolution whose weight is a {shape}, so there is no "
            "weight to start"
        )
    for weight in weights:
        initialize(weight, init, 1.0 if gain is None else gain)


def _convolutions(model: torch.nn.Module) -> list[torch.nn.Module]:
    if not isinstance(model, Model):
        return [conv for conv, _ in find_convolutions(model)]
    for conv in model.convs:
        if not hasattr(conv, "init"):
            raise ModelError(f"{model.title} has first weights of its own, which no remedy changes")
    return list(model.convs)


_OF_TRAINING = "it is a setting of training"

STARTS = (
    Remedy(
        "identity",
        "identity start",
        "starts",
        "Le et al., 2015",
        "https://arxiv.org/abs/1504.00941",
        "A deep stack starts as plain propagation and neither shrinks nor mixes its features.",
        'GCN(..., init="identity"), or torch.nn.init.eye_(conv.lin.weight) for square weights',
        {"init": "identity"},
        change=partial(_start, init="identity"),
    ),
    Remedy(
        "glorot",
        "Glorot start",
        "starts",
        "Glorot and Bengio, 2010; Kipf and Welling, 2017",
        "https://arxiv.org/abs/1609.02907",
        "The variance of features and gradients is the same in all layers at the start.",
        'GCN(..., init="glorot"), or torch.nn.init.xavier_uniform_(conv.lin.weight)',
        {"init": "glorot"},
        change=partial(_start, init="glorot"),
    ),
    Remedy(
        "orthogonal",
        "orthogonal start",
        "starts",
        "Guo et al., 2022",
        "https://arxiv.org/abs/2109.11338",
        "Orthogonal weights keep the lengths of features and gradients in every layer.",
        'GCN(..., init="orthogonal"), or torch.nn.init.orthogonal_(conv.lin.weight)',
        {"init": "orthogonal"},
        change=partial(_start, init="orthogonal"),
    ),
    Remedy(
        "large_variance",
        "start with a large variance",
        "starts",
        "Epping et al., 2024",
        "https://arxiv.org/abs/2406.02269",
        "Above a critical variance of the weights, features of a network with a bounded activation "
        "stay apart at any depth.",
        'GCN(..., init="normal", gain=2.0, activation="tanh")',
        {"init": "normal", "activation": "tanh"},
        Number("gain", (2.0, 4.0)),
        change=partial(_start, init="normal"),
    ),
    Remedy(
        "no_decay",
        "no weight decay of convolutions",
        "starts",
        "Oono and Suzuki, 2020",
        "https://arxiv.org/abs/1905.10947",
        "The smaller the singular values of the weights, the faster features approach the "
        "eigenspace, and weight decay shrinks these values.",
        "TrainConfig(conv_weight_decay=0.0)",
        {"conv_weight_decay": 0.0},
        reason=_OF_TRAINING,
    ),
    Remedy(
        "warm_up",
        "warm-up of the learning rate",
        "starts",
        "Goyal et al., 2017",
        "https://arxiv.org/abs/1706.02677",
        "Small first steps keep the network from changing too rapidly early in training.",
        "TrainConfig(warm_up=20)",
        {},
        Number("warm_up", (20, 50)),
        reason=_OF_TRAINING,
    ),
)
