"""Remedies that change the loss."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from graphsct.nn.feature_losses import add_feature_loss
from graphsct.nn.model import Model
from graphsct.remedies.convolutions import find_hidden
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["LOSSES"]


def _penalize(model: torch.nn.Module, data: Any, weight: float, *, name: str) -> None:
    """Add a penalty on the features of the hidden convolutions."""
    convs = model.convs if isinstance(model, Model) else find_hidden(model, data)
    add_feature_loss(model, convs, name, weight)


_WEIGHTS = (0.1, 0.01)

LOSSES = (
    Remedy(
        "egnn",
        "EGNN",
        "losses",
        "Zhou et al., 2021",
        "https://arxiv.org/abs/2107.02392",
        "A penalty on the distance of the weights from a scaled identity keeps the energy of each "
        "layer within bounds.",
        "EnergeticGNN(..., c_max=1.0)",
        {"model": "egnn"},
        Number("c_max", (1.0, 0.5)),
        reason="its penalty belongs to convolutions of its own",
        bases=("gcn",),
    ),
    Remedy(
        "dirichlet_loss",
        "penalty on a falling Dirichlet energy",
        "losses",
        "cf. Zhou et al., 2021",
        "https://arxiv.org/abs/2107.02392",
        "A penalty on a last layer with less energy than the first keeps features from becoming "
        "smooth.",
        "GCN(..., dirichlet_loss=0.1)",
        {},
        Number("dirichlet_loss", _WEIGHTS),
        change=partial(_penalize, name="dirichlet_loss"),
    ),
    Remedy(
        "rank_loss",
        "penalty on a falling rank",
        "losses",
        "cf. Roth and Liebig, 2023",
        "https://arxiv.org/abs/2308.16800",
        "A penalty on a last layer with a lower effective rank than the first keeps features from "
        "becoming multiples of one vector.",
        "GCN(..., rank_loss=0.1)",
        {},
        Number("rank_loss", _WEIGHTS),
        change=partial(_penalize, name="rank_loss"),
    ),
)
