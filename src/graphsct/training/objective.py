"""The objective of training: the loss that it minimizes, and the metric that measures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from graphsct.datasets.targets import Kind, kind_of, num_outputs
from graphsct.errors import DataError, ModelError
from graphsct.training.metrics import METRICS, Metric, choose_metric

__all__ = ["Objective"]


@dataclass(frozen=True)
class Objective:
    """What a model is trained for.

    The loss is the negative log-likelihood of classes, the mean binary cross-entropy of labels, or
    the mean squared error of numbers.

    Args:
        kind: the kind of the targets
        metric: measures predictions

    Example:
        >>> import torch
        >>> y = torch.tensor([0.0, 2.0])
        >>> objective = Objective.of(y, "mae")
        >>> objective.loss(torch.tensor([[1.0], [1.0]]), y).item()
        1.0
    """

    kind: Kind = "classes"
    metric: Metric = METRICS["accuracy"]

    @classmethod
    def of(cls, y: Tensor, metric: str | None = None) -> Objective:
        """The objective for some targets.

        Args:
            y: targets of :func:`~graphsct.datasets.targets.check_targets`
            metric: name of a metric; defaults to that of the kind of targets
        """
        kind = kind_of(y)
        return cls(kind, choose_metric(metric, kind))

    def loss(self, scores: Tensor, y: Tensor) -> Tensor:
        """Mean loss; shapes: ``(n, outputs), (n,) or (n, t) -> ()``."""
        if self.kind == "classes":
            return F.cross_entropy(scores, y)
        known = ~y.isnan()
        found, wanted = scores.view_as(y)[known], y[known].to(scores.dtype)
        if self.kind == "labels":
            return F.binary_cross_entropy_with_logits(found, wanted)
        return F.mse_loss(found, wanted)

    def score(self, scores: Tensor, y: Tensor) -> Tensor:
        """The metric in double precision; shapes: ``(n, outputs), (n,) or (n, t) -> ()``."""
        if scores.device.type == "mps":  # it has no float64
            scores, y = scores.cpu(), y.cpu()
        return self.metric.compute(scores, y).double()

    def check_scores(
        self, scores: Any, y: Tensor, used: Tensor, name: str, of: str = "node"
    ) -> None:
        """Raise an error if the output of a model cannot predict these targets.

        Args:
            scores: output of a model
            y: targets; shape: ``(n,)`` or ``(n, t)``
            used: which of them are used; shape: ``(n,)`` of bool
            name: name of the data
            of: what has a target, for errors
        """
        if not isinstance(scores, Tensor) or scores.dim() != 2 or len(scores) != len(y):
            what = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            wanted = "classes" if self.kind == "classes" else num_outputs(y)
            raise ModelError(
                f"the model returned {what}, expected scores of shape ({len(y)}, {wanted})"
            )
        if self.kind != "classes":
            if scores.shape[1] != num_outputs(y):
                raise ModelError(
                    f"the model has {scores.shape[1]} outputs, but {name} has {num_outputs(y)} "
                    f"{self.kind} to predict; build it with out_channels={num_outputs(y)}"
                )
            return
        wrong = (used & (y >= scores.shape[1])).nonzero()
        if len(wrong):
            first = int(wrong[0])
            more = f", nor are {len(wrong) - 1} others" if len(wrong) > 1 else ""
            raise DataError(
                f"{name}: the label {int(y[first])} of {of} {first} is not among the model's "
                f"classes 0 .. {scores.shape[1] - 1}{more}; build it with "
                f"out_channels={int(y.max()) + 1}, or correct the labels"
            )
