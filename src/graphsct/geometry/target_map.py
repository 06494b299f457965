r"""The map to features whose output has the wanted smoothness, and its gradients.

.. math::
    \mathbf z \mapsto r \, (\mathbf z - \mathbf Q \boldsymbol\alpha), \qquad
    s\big(\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\big) = t, \qquad
    r = \|\mathbf z\| / \|\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\|

On one component :math:`\cos(\alpha, \mathbf z) = t` holds whatever :math:`\mathbf z`, so

.. math::
    \frac{\partial \alpha}{\partial \mathbf z} = \frac{\mathbf w}{\langle \mathbf w, \mathbf e
    \rangle}, \qquad \frac{\partial \alpha}{\partial t} = -\frac{\|\mathbf h\|}{\langle \mathbf
    w, \mathbf e \rangle}, \qquad \mathbf w = \sigma' \odot (\mathbf e - t \, \mathbf h /
    \|\mathbf h\|)
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from graphsct.geometry.activations import negative_slope_of
from graphsct.geometry.newton import find_shift, respond, spread
from graphsct.graph import Graph

__all__ = ["TargetMap"]

#: Norms whose squares float32 holds, those of parts 1e-5 as large among them.
_LEAST, _LARGEST = 1e-12, 1e14


class TargetMap:
    """The map of some features, and what its gradients need.

    Args:
        graph: the graph
        activation: ReLU, leaky ReLU, identity, ELU or SELU
        rescale: multiply by r, which needs an activation of one slope on each side of 0
    """

    def __init__(self, graph: Graph, activation: nn.Module, *, rescale: bool) -> None:
        self._graph, self._activation, self._rescale = graph, activation, rescale

    @torch.no_grad()
    def forward(self, z: Tensor, target: Tensor, out: Tensor, work: Sequence[Tensor]) -> None:
        """Compute the features.

        Args:
            z: shape: ``(n, d)``
            target: t; shape: ``(m, d)``
            out: where to write, perhaps over z; shape: ``(n, d)``
            work: three arrays to compute in; shape: ``(n, d)``
        """
        found, free, norm = find_shift(z, self._graph, target, self._activation, work)
        self._unit = self._unit_of(z, norm)
        if self._unit is not None:
            z = z / spread(self._unit, self._graph, work[0])
            found, free, norm = find_shift(z, self._graph, target, self._activation, work)
        self._found, self._free, self._target = found, free, target
        self._over_size = found.square.rsqrt().nan_to_num_(posinf=0)  # 0 for an output of 0
        graph, shift = self._graph, found.alpha
        self._factor = torch.ones_like(norm)
        if self._rescale:
            self._factor = (norm * self._over_size).masked_fill_(self._over_size == 0, 1)
            shift = shift * self._factor
            torch.mul(z, spread(self._factor, graph, work[0]), out=out)
        elif out is not z:
            out.copy_(z)
        out.addcmul_(spread(shift, graph, work[0]), graph.basis.unsqueeze(1), value=-1)
        if self._unit is not None:
            out.mul_(spread(self._unit, graph, work[0]))

    def _unit_of(self, z: Tensor, norm: Tensor) -> Tensor | None:
        """Powers of two that bring features near 1 where the squares of some leave the range of
        float32; shape: ``(m, d)``. The map commutes with positive factors if the activation does.
        """
        if bool(norm.amin() > _LEAST) and bool(norm.amax() < _LARGEST):
            return None
        odd = ~((norm > _LEAST) & (norm < _LARGEST))
        if negative_slope_of(self._activation) is None or not bool(odd.any()):
            return None
        columns = odd.any(0).nonzero().squeeze(1)
        part = z.index_select(1, columns).abs_().div_(self._graph.basis.unsqueeze(1))
        size = self._graph.averaging(part)
        alive = odd[:, columns] & (size > 0)
        if not bool(alive.any()):  # dead channels and nodes without features
            return None
        exponent = torch.where(alive, torch.frexp(size).exponent, 0).clamp_max(127)
        unit = torch.ones_like(norm)
        unit[:, columns] = torch.ldexp(torch.ones_like(size), exponent)
        return unit

    @torch.no_grad()
    def backward(
        self, out: Tensor, gradient: Tensor, of_z: Tensor, work: Sequence[Tensor]
    ) -> Tensor:
        r"""Compute the gradients. With :math:`\mathbf g` that of the output :math:`\mathbf o`, and
        sums over a component,

        .. math::
            \rho = \langle \mathbf g, \mathbf o \rangle, \qquad
            \lambda = \frac{r \langle \mathbf g, \mathbf e \rangle - \rho \langle \mathbf h, \sigma'
            \mathbf e \rangle / \|\mathbf h\|^2}{\langle \mathbf w, \mathbf e \rangle}, \qquad
            \nabla_t = \lambda \|\mathbf h\|

            \nabla_{\mathbf z} = r \mathbf g - \rho \frac{\sigma' \odot \mathbf h}{\|\mathbf h\|^2}
            + \rho \frac{\mathbf z}{\|\mathbf z\|^2} - \lambda \mathbf w

        where :math:`\rho = 0` without the factor r.

        Args:
            out: what :meth:`forward` wrote; shape: ``(n, d)``
            gradient: its gradient; shape: ``(n, d)``
            of_z: where to write that of z; shape: ``(n, d)``
            work: three arrays to compute in; shape: ``(n, d)``

        Returns:
            That of t; shape: ``(m, d)``
        """
        graph, basis = self._graph, self._graph.basis.unsqueeze(1)
        own, shifted, other = work
        torch.div(gradient, basis, out=own)
        torch.div(out, basis, out=shifted)
        if self._unit is not None:
            shifted.div_(spread(self._unit, graph, other))
        found, factor = self._found, self._factor
        pull = factor * graph.averaging(own)
        along = bent = torch.zeros_like(pull)
        if self._rescale:
            inner = graph.averaging(torch.mul(own, shifted, out=other))
            bent = inner * self._over_size.square()
            along = bent / factor.square()
            own.mul_(spread(factor, graph, other))
            own.addcmul_(shifted, spread(along / factor, graph, other))
            own.add_(spread(along * found.alpha, graph, other))
        free = self._free.to(own.dtype)
        over_steepness = found.steepness.clamp_min_(0).reciprocal_().nan_to_num_(0, 0).mul_(free)
        moved = (pull - bent * found.shrink).mul_(over_steepness)
        bend = (moved * self._target).mul_(self._over_size).mul_(free).sub_(bent).div_(factor)
        if negative_slope_of(self._activation) == 0:
            output = shifted.clamp_min_(0)
            own.addcmul_(output, spread(bend, graph, other))
            slope = torch.gt(output, 0, out=shifted)
        else:
            output, slope = respond(shifted, graph, self._activation)
            output.mul_(slope)
            own.addcmul_(output, spread(bend, graph, other))
        own.addcmul_(slope, spread(moved, graph, other), value=-1)
        torch.mul(own, basis, out=of_z)
        of_target = moved * found.square.sqrt()
        return of_target if self._unit is None else of_target.mul_(self._unit)
