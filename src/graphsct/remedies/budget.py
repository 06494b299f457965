"""The rules of the leaderboard, fixed before its first run.

Every remedy has the same budget: 8 settings, each trained once with seed 0. The validation metric
chooses one of them, and between equal ones the validation loss; test nodes have no part in it. The
8 settings are 2 learning rates, 2 rates of dropout, and 2 values of the remedy's own number; a
remedy without one tries 2 weight decays instead. The chosen setting is then trained with all seeds,
and each run is tested at two epochs: that of the best validation metric and that of the smallest
validation loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from graphsct.records import Record
from graphsct.remedies.remedy import Remedy
from graphsct.training.config import ModelConfig, TrainConfig

__all__ = [
    "DECAYS",
    "DROPOUTS",
    "EPOCHS",
    "HIDDEN",
    "LEARNING_RATES",
    "PATIENCE",
    "BudgetSetting",
    "base_model",
    "budget_of",
]

#: Width of all models.
HIDDEN = 64
#: The most epochs of a run, and the epochs without improvement after which it ends.
EPOCHS, PATIENCE = 200, 100
LEARNING_RATES = (0.01, 0.003)
DROPOUTS = (0.5, 0.7)
#: Weight decays of all weights; a remedy with a number of its own has the first.
DECAYS = (5e-4, 0.0)


@dataclass(frozen=True)
class BudgetSetting(Record):
    """One of the settings that a remedy tries.

    Args:
        learning_rate: learning rate
        dropout: rate of dropout before the linear layers
        weight_decay: weight decay of all weights
        value: value of the remedy's number, ``None`` if it has none
    """

    learning_rate: float
    dropout: float
    weight_decay: float
    value: Any = None

    def train(self, epochs: int = EPOCHS) -> TrainConfig:
        """Settings of training, with at most this many epochs."""
        return TrainConfig(
            epochs=epochs,
            patience=PATIENCE,
            learning_rate=self.learning_rate,
            conv_weight_decay=self.weight_decay,
            dense_weight_decay=self.weight_decay,
        )


def budget_of(remedy: Remedy) -> list[BudgetSetting]:
    """The 8 settings that a remedy tries, in order.

    Example:
        >>> from graphsct.remedies import REMEDIES
        >>> {len(budget_of(remedy)) for remedy in REMEDIES.values()}
        {8}
    """
    values = (None,) if remedy.number is None else remedy.number.choices
    decays = DECAYS if remedy.number is None else DECAYS[:1]
    grid = product(LEARNING_RATES, DROPOUTS, decays, values)
    return [BudgetSetting(*chosen) for chosen in grid]


def base_model(model: str, depth: int, dropout: float | None = None) -> ModelConfig:
    """The settings of a model without any remedy; GCN has the Glorot start.

    Args:
        model: a name in :data:`graphsct.nn.MODELS`
        depth: number of layers
        dropout: rate of dropout; defaults to that of the model
    """
    init = "glorot" if model == "gcn" else None
    return ModelConfig(model=model, depth=depth, hidden=HIDDEN, dropout=dropout, init=init)
