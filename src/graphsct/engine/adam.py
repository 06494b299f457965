"""Adam for the weights of k runs, each with its own learning rate and weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from graphsct.engine.program import Arena, Program
from graphsct.engine.weights import Weights

__all__ = ["Adam", "Settings"]

_PARTS = ("value", "grad", "mean", "square")  # as PyTorch's kernel takes them
_SETTINGS = dict(beta1=0.9, beta2=0.999, eps=1e-8, amsgrad=False, maximize=False)


class Settings(Protocol):
    """The settings of a run that Adam reads."""

    @property
    def learning_rate(self) -> float:
        """The learning rate of all weights, after the warm-up."""

    @property
    def warm_up(self) -> int:
        """Number of epochs in which the learning rate grows."""

    def rate(self, epoch: int) -> float:
        """The learning rate in an epoch, counted from 1."""

    @property
    def conv_weight_decay(self) -> float:
        """Weight decay of convolutions, controls and connections between layers."""

    @property
    def dense_weight_decay(self) -> float:
        """Weight decay of all other weights, except the offsets of activations."""

    @property
    def offset_weight_decay(self) -> float:
        """Weight decay of the offsets of activations."""


class Adam:
    """The kernel of ``torch.optim.Adam(fused=True)``, without the 100 microseconds around it.

    It works on one vector for each group of weights if all runs are optimized alike, else on each
    weight of each run.

    Args:
        weights: weights, gradients and moments of all runs
        configs: the settings of each run
        steps: number of steps so far
    """

    def __init__(self, weights: Weights, configs: Sequence[Settings], steps: int) -> None:
        settings = [_settings(config) for config in configs]
        alike = all(chosen == settings[0] for chosen in settings)
        self._step = torch.tensor(float(steps))
        self._do = Program(Arena(self._step))
        self._do(self._step.add_, 1)
        paces = {chosen["lr"]: run for run, chosen in enumerate(settings)}
        rates = {pace: self._rate(configs[run]) for pace, run in paces.items()}
        groups: dict[tuple[Any, float], list[dict[str, Tensor]]] = {}
        for group, run, piece in weights.pieces(together=alike):
            chosen = settings[run]
            groups.setdefault((chosen["lr"], chosen[group]), []).append(piece)
        for (rate, decay), pieces in groups.items():
            parts = ([piece[part] for piece in pieces] for part in _PARTS)
            step = [self._step] * len(pieces)
            kernel = torch._fused_adam_
            self._do(kernel, *parts, [], step, lr=rates[rate], weight_decay=decay, **_SETTINGS)

    def _rate(self, config: Settings) -> float | Tensor:
        """The learning rate; a tensor that is set before each step if there is a warm-up."""
        if not config.warm_up:
            return config.learning_rate
        rate = torch.zeros((), dtype=torch.float64)
        self._do(lambda: rate.fill_(config.rate(self.steps)))
        return rate

    @property
    def steps(self) -> int:
        """How many steps there have been."""
        return int(self._step)

    def step(self) -> None:
        """Make a step."""
        self._do.run()

    def restore(self, steps: int) -> None:
        """Set the step count, when training resumes."""
        self._step.fill_(steps)


def _settings(config: Settings) -> dict[str, Any]:
    """The key of the learning rate, and the weight decay of each group."""
    conv, dense = config.conv_weight_decay, config.dense_weight_decay
    rate = config.learning_rate, config.warm_up
    return {"lr": rate, "conv": conv, "dense": dense, "offset": config.offset_weight_decay}
