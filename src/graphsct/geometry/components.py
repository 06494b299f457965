r"""Moments of features, component by component, in units that keep the proofs simple.

With :math:`\mathbf x = \tilde{\mathbf D}^{-1/2} \mathbf z` and :math:`c^2 = \sum_i d_i` a shift by
:math:`\alpha \mathbf e` subtracts the same number :math:`\alpha / c` from all of :math:`\mathbf x`,
and :math:`s` compares the mean of :math:`\mathbf x`, weighted by degree, with its mean square.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import Graph
from graphsct.graph.kernels import Membership, pool

__all__ = ["Components", "check_input"]


class Components:
    """Degree-weighted moments of each component and feature dimension, in float64.

    Args:
        z: finite features; shape: ``(n, d)``
        graph: the graph
    """

    def __init__(self, z: Tensor, graph: Graph) -> None:
        self.num_components = graph.num_components
        self.component = graph.component
        self.degree = graph.degree.double().unsqueeze(1)  # (n, 1)
        ones = torch.ones_like(self.degree)
        self._indicator = Membership.build(ones[:, 0], self.component, self.num_components)
        self.size = self.sum(ones)  # (m, 1)
        self.volume = self.sum(self.degree)  # (m, 1)
        self.scale = self.volume.sqrt()  # c, (m, 1)
        self.x = z.double() / self.degree.sqrt()  # (n, d)
        self.mean = self.sum(self.degree * self.x) / self.volume  # (m, d)
        centered = self.x - self.spread(self.mean)
        self.deviation = (self.sum(self.degree * centered.square()) / self.volume).sqrt()
        if not bool(torch.isfinite(self.deviation).all()):
            raise GraphError(
                f"features as large as {z.abs().max().item():.3g} overflow float64 when squared; "
                "scale them down"
            )
        # Below this the rough part is only the rounding of a smooth input.
        self._rounding = 4 * torch.finfo(z.dtype).eps
        self.constant = self.deviation <= self._rounding * self.mean.abs()

    def sum(self, values: Tensor) -> Tensor:
        """Sum over each component; shapes: ``(n, d) -> (m, d)``."""
        return pool(self._indicator, values)

    def spread(self, values: Tensor) -> Tensor:
        """Give each node the value of its component; shapes: ``(m, d) -> (n, d)``."""
        if self.num_components == 1:
            return values.expand(len(self.component), -1)
        return values.index_select(0, self.component)

    @cached_property
    def maximum(self) -> Tensor:
        """Largest x of each component; shape: ``(m, d)``."""
        return self._extreme("amax")

    @cached_property
    def minimum(self) -> Tensor:
        """Smallest x of each component; shape: ``(m, d)``."""
        return self._extreme("amin")

    @cached_property
    def ceiling(self) -> Tensor:
        """A shift in x after which nothing is positive, despite rounding; shape: ``(m, d)``."""
        return self.maximum + 2 * self._rounding * self.maximum.abs()

    def _extreme(self, reduce: str) -> Tensor:
        if self.num_components == 1:
            return (
                self.x.amax(0, keepdim=True) if reduce == "amax" else self.x.amin(0, keepdim=True)
            )
        index = self.component.unsqueeze(1).expand_as(self.x)
        return torch.zeros_like(self.mean).scatter_reduce(
            0, index, self.x, reduce, include_self=False
        )

    @cached_property
    def at_maximum(self) -> Tensor:
        """Which nodes have the largest x of their component; shape: ``(n, d)``."""
        return self.x >= self.spread(self.maximum - self._rounding * self.maximum.abs())

    @cached_property
    def share_at_maximum(self) -> Tensor:
        r""":math:`\sum_{x_i = \max x} d_i / \sum_j d_j`; shape: ``(m, d)``."""
        return self.sum(self.degree * self.at_maximum) / self.volume

    @cached_property
    def bent_limit(self) -> Tensor:
        r"""Smoothness of a vector of equal entries, :math:`\langle \mathbf 1, \mathbf e \rangle /
        \sqrt n`, to which ELU bends a smooth input; shape: ``(m, 1)``.
        """
        limit = self.sum(self.degree.sqrt()) / (self.size * self.volume).sqrt()
        return torch.where(limit > 1 - 1e-12, 1, limit)


def check_input(z: Tensor, graph: Graph) -> Tensor:
    """Return ``z`` if it is finite and has one row per node, else raise :class:`GraphError`."""
    graph.check_whole()
    bad = (~torch.isfinite(graph.check_features(z))).nonzero()
    if len(bad):
        node, dimension = bad[0].tolist()
        raise GraphError(
            f"z[{node}, {dimension}] is {z[node, dimension].item()} ({len(bad)} such entries); "
            "repair it, for instance with z.nan_to_num()"
        )
    return z
