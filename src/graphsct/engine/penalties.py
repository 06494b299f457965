"""The penalties that models add to their loss, keyed by the models' own ``penalty``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.program import Program
from graphsct.engine.weights import Weights
from graphsct.nn.energetic_gnn import EnergeticGNN
from graphsct.nn.model import Model

__all__ = ["PENALTIES", "Penalty"]

#: ``penalty(do, model, weights, loss)`` adds calls to a program. They add the penalty to the losses
#: of k runs, shape ``(k,)``, and its gradients to the gradients of the weights.
Penalty = Callable[[Program, Any, Weights, Tensor], None]


def _none(do: Program, model: Any, weights: Weights, loss: Tensor) -> None:
    """No penalty."""


def _distance(do: Program, model: Any, weights: Weights, loss: Tensor) -> None:
    """The distances of the convolutions' weights from their start, which all runs share."""
    names = [f"convs.{i}.weight" for i in range(len(model.convs))]
    value, grad = (weights.layers(part, names) for part in ("value", "grad"))
    start = torch.stack([conv.start().detach() for conv in model.convs]).unsqueeze(1)
    do(_add_distance, value, grad, start, model.penalty_weight, loss)


def _add_distance(value: Tensor, grad: Tensor, start: Tensor, weight: float, loss: Tensor) -> None:
    """Add weighted distances of each layer to the losses, and their gradients; ``(L, k, d, d)``."""
    difference = value - start
    distance = difference.flatten(2).norm(dim=2)
    loss.add_(distance.sum(0), alpha=weight)
    slope = torch.where(distance > 0, weight / distance, 0)
    grad.addcmul_(difference, slope.unsqueeze(2).unsqueeze(3))


PENALTIES: dict[Any, Penalty] = {Model.penalty: _none, EnergeticGNN.penalty: _distance}
