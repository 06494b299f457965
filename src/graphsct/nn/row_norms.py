"""Normalisations of the rows of a feature matrix that PyTorch Geometric does not have."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.nn.checks import check_positive

__all__ = ["ContraNorm", "NodeNorm", "PairNormSCS"]

_TINY = 1e-6  # below the squares and variances of rows


class PairNormSCS(torch.nn.Module):
    r"""PairNorm that scales and centers at once, of `"PairNorm: Tackling Oversmoothing in GNNs"
    <https://arxiv.org/abs/1909.12223>`_ (Zhao and Akoglu, 2020), as in the authors' code:

    .. math::
        \mathbf x_i \mapsto s \frac{\mathbf x_i}{\|\mathbf x_i\|} - \frac 1 n \sum_j \mathbf x_j

    Args:
        scale: the length :math:`s` of the rows before they are centered

    Shapes: ``(n, d) -> (n, d)``.
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = check_positive(scale, "scale")

    def forward(self, x: Tensor) -> Tensor:
        """The scaled and centered rows."""
        length = (_TINY + x.square().sum(1, keepdim=True)).sqrt()
        return self.scale * x / length - x.mean(0)

    def extra_repr(self) -> str:
        """The scale."""
        return f"scale={self.scale:g}"


class NodeNorm(torch.nn.Module):
    r"""The norm of `"Understanding and Resolving Performance Degradation in Graph Convolutional
    Networks" <https://arxiv.org/abs/2006.07107>`_ (Zhou et al., 2021):

    .. math::
        \mathbf x_i \mapsto \mathbf x_i / \sigma_i^{1/p}

    with the standard deviation :math:`\sigma_i` of the entries of row :math:`i`.

    Args:
        power: the number :math:`p`

    Shapes: ``(n, d) -> (n, d)``.
    """

    def __init__(self, power: float = 2.0) -> None:
        super().__init__()
        self.power = check_positive(power, "power")

    def forward(self, x: Tensor) -> Tensor:
        """The scaled rows."""
        deviation = (x.var(1, correction=0, keepdim=True) + _TINY).sqrt()
        return x / deviation.pow(1 / self.power)

    def extra_repr(self) -> str:
        """The power."""
        return f"power={self.power:g}"


class ContraNorm(torch.nn.Module):
    r"""The norm of `"ContraNorm: A Contrastive Learning Perspective on Oversmoothing and Beyond"
    <https://arxiv.org/abs/2303.06562>`_ (Guo et al., 2023), which moves each row away from those
    that it resembles:

    .. math::
        \mathbf X \mapsto (1 + s) \mathbf X -
        s \operatorname{softmax}(\hat{\mathbf X} \hat{\mathbf X}^\top) \mathbf X

    where :math:`\hat{\mathbf X}` has the rows of :math:`\mathbf X`, scaled to length one. Time and
    memory grow with :math:`n^2`.

    Args:
        scale: the strength :math:`s`

    Shapes: ``(n, d) -> (n, d)``.
    """

    def __init__(self, scale: float = 0.5) -> None:
        super().__init__()
        self.scale = check_positive(scale, "scale")

    def forward(self, x: Tensor) -> Tensor:
        """The spread rows."""
        unit = F.normalize(x, dim=1)
        alike = torch.softmax(unit @ unit.T, dim=1)
        return (1 + self.scale) * x - self.scale * (alike @ x)

    def extra_repr(self) -> str:
        """The strength."""
        return f"scale={self.scale:g}"
