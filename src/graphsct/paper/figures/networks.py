"""The deep networks on Citeseer in figures 3 and 4.

The paper says that they have 32 layers and 16 channels. It states neither the start of their
weights nor the weight decay. Both decide the figures of GCN, so GCN is shown in several settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from graphsct.nn import MODELS
from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

__all__ = ["DATA", "DEPTH", "GLOROT", "IDENTITY", "PULLED", "Network", "Setting", "in_two_rows"]

DATA = "citeseer"
DEPTH, WIDTH = 32, 16


@dataclass(frozen=True)
class Setting:
    """How convolutions start, ``None`` for the start of their authors, and their weight decay."""

    title: str
    init: str | None = None
    decay: float = 0.0


# Weight decay is that of the convolutions; the two dense layers have 5e-4 everywhere.
PULLED = Setting("Glorot start,\nweight decay 5e-4", "glorot", 5e-4)
GLOROT = Setting("Glorot start,\nno weight decay", "glorot")
IDENTITY = Setting("identity start,\nno weight decay", "identity")


@dataclass(frozen=True)
class Network:
    """One of the paper's models in one setting."""

    model: ModelConfig
    setting: Setting

    @property
    def name(self) -> str:
        """Its name in the paper."""
        return self.model.title + "-SCT" * (self.model.control is not None)

    @property
    def facts(self) -> dict[str, Any]:
        """The columns that identify the network in the data of a figure."""
        start, decay = self.setting.init or "own", self.setting.decay
        return {"model": self.name, "start": start, "conv_weight_decay": decay}

    @property
    def heading(self) -> str:
        """The title of its map; a network without control, in the upper row, names the setting."""
        above = f"{self.setting.title}\n\n" if self.model.control is None else ""
        return above + self.name

    def build(self, data: Any, seed: int) -> torch.nn.Module:
        """Return a new network with the first weights of a seed."""
        with seeded(seed):
            return self.model.build(data)

    def config(self, seed: int, **options: Any) -> TrainConfig:
        """Return the settings of its training."""
        return TrainConfig(seed=seed, conv_weight_decay=self.setting.decay, **options)


def in_two_rows(columns: Sequence[tuple[str, Setting]], depth: int = DEPTH) -> list[Network]:
    """Return the models of all columns without smoothness control, then those with it."""
    controls = [None] * len(columns) + [MODELS[model].default_control for model, _ in columns]
    return [
        Network(ModelConfig(model, control, depth, WIDTH, init=setting.init), setting)
        for (model, setting), control in zip([*columns, *columns], controls, strict=True)
    ]
