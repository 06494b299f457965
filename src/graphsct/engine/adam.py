"""Adam for the weights of k runs, each with its own learning rate and weight decay."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from graphsct.engine.calls import Calls
from graphsct.engine.weights import Stack
from graphsct.training.config import TrainConfig

__all__ = ["Adam"]

_PARTS = ("value", "grad", "mean", "square")  # as PyTorch's kernel takes them
_SETTINGS = dict(beta1=0.9, beta2=0.999, eps=1e-8, amsgrad=False, maximize=False)


class Adam:
    """The kernel of ``torch.optim.Adam(fused=True)``, without the 100 microseconds around it.

    It works on one vector for each group of weights if all runs are optimized alike, else on each
    weight of each run.

    Args:
        stack: weights, gradients and moments of all runs
        configs: of each run
        steps: how many there have been
    """

    def __init__(self, stack: Stack, configs: Sequence[TrainConfig], steps: int) -> None:
        settings = [_settings(config) for config in configs]
        alike = all(chosen == settings[0] for chosen in settings)
        groups: dict[tuple[float, float], list[dict[str, Tensor]]] = {}
        for group, run, piece in stack.pieces(together=alike):
            chosen = settings[run]
            groups.setdefault((chosen["lr"], chosen[group]), []).append(piece)
        self._step = torch.tensor(float(steps))
        self._do = Calls(self._step)
        self._do(self._step.add_, 1)
        for (rate, decay), pieces in groups.items():
            parts = ([piece[part] for piece in pieces] for part in _PARTS)
            step = [self._step] * len(pieces)
            kernel = torch._fused_adam_
            self._do(kernel, *parts, [], step, lr=rate, weight_decay=decay, **_SETTINGS)

    @property
    def steps(self) -> int:
        """How many steps there have been."""
        return int(self._step)

    def step(self) -> None:
        """Make a step."""
        self._do.run()

    def restore(self, steps: int) -> None:
        """Go on after so many steps."""
        self._step.fill_(steps)


def _settings(config: TrainConfig) -> dict[str, float]:
    """The learning rate, and the weight decay of each group."""
    conv, dense = config.conv_weight_decay, config.dense_weight_decay
    return {"lr": config.learning_rate, "conv": conv, "dense": dense, "activation": 0.0}
