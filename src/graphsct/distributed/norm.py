r"""Batch normalisation over the nodes of all processes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.distributed.collectives import total
from graphsct.errors import ModelError

__all__ = ["GlobalBatchNorm", "make_global"]


class GlobalBatchNorm(torch.nn.BatchNorm1d):
    r""":class:`torch.nn.BatchNorm1d`, :math:`(\mathbf x - \mu) / \sqrt{\sigma^2 + \epsilon} \odot
    \gamma + \beta`, whose :math:`\mu` and :math:`\sigma^2` are those of all processes.

    Args:
        local: the layer whose weights and statistics it takes over

    Shapes: ``(n, d) -> (n, d)``.
    """

    def __init__(self, local: torch.nn.BatchNorm1d) -> None:
        super().__init__(
            local.num_features,
            local.eps,
            local.momentum,
            local.affine,
            local.track_running_stats,
        )
        self._parameters, self._buffers = local._parameters, local._buffers

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002, the name in torch.nn.BatchNorm1d
        """Normalise, and in training update the running moments."""
        if not self.training and self.running_mean is not None:
            return super().forward(input)
        x = input
        count = total(x.new_tensor(float(len(x))))
        mean = total(x.sum(0)) / count
        centered = x - mean
        variance = total(centered.square().sum(0)) / count
        if self.training and self.running_mean is not None:
            self._track(mean, variance * (count / (count - 1)))
        out = centered * (variance + self.eps).rsqrt()
        return out * self.weight + self.bias if self.affine else out

    @torch.no_grad()
    def _track(self, mean: Tensor, variance: Tensor) -> None:
        running: Any = self  # buffers that may be None for others
        running.num_batches_tracked += 1
        share = self.momentum
        if share is None:
            share = 1 / float(running.num_batches_tracked)
        running.running_mean.lerp_(mean, share)
        running.running_var.lerp_(variance, share)


def make_global(model: torch.nn.Module) -> None:
    """Make the norms of a model normalise over all processes, or name one that cannot.

    Weights and their names stay as they are.
    """
    norms: Any = model.norms
    for place, norm in enumerate(norms):
        if isinstance(norm, torch.nn.BatchNorm1d):
            norms[place] = GlobalBatchNorm(norm)
        elif isinstance(getattr(norm, "module", None), torch.nn.BatchNorm1d):  # of PyG
            norm.module = GlobalBatchNorm(norm.module)
        elif not isinstance(norm, torch.nn.Identity | torch.nn.LayerNorm):
            raise ModelError(
                f"{type(norm).__name__} would normalise over the nodes of one process only; use "
                "BatchNorm, which spans all processes, or no norm"
            )
