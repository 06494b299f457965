"""The baselines of the remedies: the model as it is, and a shallower one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from graphsct.remedies.remedy import Number, Remedy
from graphsct.training.config import ModelConfig

__all__ = ["BASELINES", "SHALLOW", "Shallower"]

#: The depths of a shallower model, the least first.
SHALLOW = (2, 4)


def _leave(model: torch.nn.Module, data: Any, value: Any) -> None:
    """Change nothing."""


@dataclass(frozen=True)
class Shallower(Remedy):
    """Fewer layers: as many as its number says, and never more than the model has."""

    def wanted(self, model: ModelConfig, value: Any) -> dict[str, Any]:
        """The smaller of the two depths."""
        depth = super().wanted(model, value)["depth"]
        return {"depth": depth if model.depth is None else min(depth, model.depth)}


_DEPTH = ("Li et al., 2018", "https://arxiv.org/abs/1801.07606")

BASELINES = (
    Remedy(
        "none",
        "none",
        "baselines",
        *_DEPTH,
        "None: all other remedies are compared with it.",
        "GCN(...)",
        change=_leave,
    ),
    Shallower(
        "shallower",
        "a shallower model",
        "baselines",
        *_DEPTH,
        "Each layer smooths the features, and more than a few rarely help a plain stack.",
        "GCN(..., num_layers=2)",
        number=Number("depth", SHALLOW),
        reason="its depth is fixed",
    ),
)
