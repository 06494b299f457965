r"""The shift that gives an output the wanted smoothness, by a few steps of Newton's method.

:func:`~graphsct.geometry.solve_alpha` sorts all features in float64. A layer needs the shift in
every forward pass: from that of the identity, three to nine steps are enough, each linear in the
number of entries, and the dimensions that are done drop out. What they do not find,
the exact solver does, as well as rounding lets it. The shift of the
last forward pass is no better start: weights and dropout move it by more than the steps save.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from graphsct.geometry.activations import negative_slope_of, slope_of
from graphsct.geometry.alpha import exact_shift
from graphsct.geometry.components import Components
from graphsct.geometry.range import smoothness_range
from graphsct.graph import Graph

__all__ = ["Response", "find_shift"]

#: Steps before the exact solver takes over.
_STEPS = 20
#: Rounding of a component's rough part, in units of that part, from which on it counts as zero.
_ROUNDING = 1e-2
#: Share of the active degrees below which the output is smooth on its active nodes.
_FLAT = 1e-5


@dataclass(frozen=True)
class Response:
    r"""The output :math:`\mathbf h = \sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)` and how it
    answers a shift, component by component.

    Args:
        alpha: shape: ``(m, d)``
        output: h; shape: ``(n, d)``
        slope: :math:`\sigma'`, at a kink that of PyTorch; shape: ``(n, d)``
        inner: :math:`\langle \mathbf h, \mathbf e \rangle`; shape: ``(m, d)``
        size: :math:`\|\mathbf h\|`; shape: ``(m, d)``
        fall: :math:`-\partial \langle \mathbf h, \mathbf e \rangle / \partial \alpha = \langle
            \mathbf e, \sigma' \mathbf e \rangle`; shape: ``(m, d)``
        shrink: :math:`-\partial \|\mathbf h\|^2 / 2 \partial \alpha = \langle \mathbf h, \sigma'
            \mathbf e \rangle`; shape: ``(m, d)``
        bend: :math:`\|\sigma' \mathbf e\|^2`; shape: ``(m, d)``
    """

    alpha: Tensor
    output: Tensor
    slope: Tensor
    inner: Tensor
    size: Tensor
    fall: Tensor
    shrink: Tensor
    bend: Tensor

    @classmethod
    def at(cls, alpha: Tensor, z: Tensor, graph: Graph, activation: nn.Module) -> Response:
        """The response of an activation to a shift."""
        shifted, basis = graph.unpool(alpha).neg_().add_(z), graph.basis.unsqueeze(1)
        output, slope = activation(shifted), slope_of(activation, shifted)
        inner, size = graph.pool(output), graph.pool(output.square().div_(basis)).sqrt()
        fall = graph.pool(slope * basis)
        if negative_slope_of(activation) == 0:
            return cls(alpha, output, slope, inner, size, fall, inner, fall)
        shrink, bend = graph.pool(slope * output), graph.pool(slope.square() * basis)
        return cls(alpha, output, slope, inner, size, fall, shrink, bend)

    def put(self, columns: Tensor, part: Response) -> None:
        """Replace some feature dimensions."""
        for name, array in vars(self).items():
            array.index_copy_(1, columns, getattr(part, name))

    @property
    def cosine(self) -> Tensor:
        r""":math:`\langle \mathbf h, \mathbf e \rangle / \|\mathbf h\|`; shape: ``(m, d)``."""
        return self.inner / self.size

    @property
    def steepness(self) -> Tensor:
        r""":math:`-\|\mathbf h\| \, \partial \cos / \partial \alpha`; shape: ``(m, d)``."""
        return self.fall - self.cosine * self.shrink / self.size

    @property
    def is_flat(self) -> Tensor:
        """Whether a shift changes nothing, as the output is smooth on its active nodes."""
        return self.steepness <= _FLAT * self.fall

    def step(self, target: Tensor) -> Tensor:
        r"""The shift that solves :math:`\langle \mathbf h + \delta \sigma' \mathbf e, \mathbf e
        \rangle = t \|\mathbf h + \delta \sigma' \mathbf e\|`, where the output is linear in
        :math:`\delta`. It is a step of Newton's method. From the identity's shift, ReLU and leaky
        ReLU go right and never too far: a node that passes the kink has less effect than the
        linear output foresees, so the exact shift is still further right.
        """
        q = target.square()
        second = self.fall.square() - q * self.bend
        first = self.inner * self.fall - q * self.shrink
        zeroth = self.inner.square() - q * self.size.square()
        root = (first.square() - second * zeroth).sqrt()
        left = torch.where(first > 0, -zeroth / (first + root), (root - first) / second)
        return self.alpha - left


@torch.no_grad()
def find_shift(
    z: Tensor, graph: Graph, target: Tensor, activation: nn.Module
) -> tuple[Response, Tensor]:
    r"""The shift by which every component has its wanted smoothness, where that can be reached.

    A component that cannot reach it keeps its features, :math:`\alpha = 0`: one without a rough
    part, such as an isolated node, and with ReLU one whose largest entry alone is smoother.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        target: t in (0, 1); shape: ``(m, d)``
        activation: ReLU, leaky ReLU, identity, ELU or SELU

    Returns:
        The response to the shift, and which entries have their wanted smoothness; shape: ``(m, d)``
    """
    inner, eps = graph.pool(z), torch.finfo(z.dtype).eps
    rough = z - graph.unpool(inner)
    deviation = graph.pool(rough.square_().div_(graph.basis.unsqueeze(1))).sqrt()
    rounding = eps * inner.abs() / deviation  # of the shifted features, in units of their size
    free = rounding < _ROUNDING
    cold = torch.where(free, inner - target * deviation / (1 - target.square()).sqrt(), 0)
    problem = _Problem(z, graph, target, activation, cold, eps**0.75 + 8 * rounding)
    found = problem.respond(cold.clone())
    alpha, free, changed = problem.improve(found, free)
    for _ in range(_STEPS):
        columns = changed.any(0).nonzero().squeeze(1)
        if not len(columns):
            return found, free
        if 2 * len(columns) > z.shape[1]:  # a copy of most of them would take longer
            del found  # frees its arrays, which the next one takes
            found = problem.respond(alpha)
            alpha, free, changed = problem.improve(found, free)
            continue
        part = problem.take(columns)
        response = part.respond(alpha[:, columns])
        found.put(columns, response)
        changed = torch.zeros_like(free)
        alpha[:, columns], free[:, columns], changed[:, columns] = part.improve(
            response, free[:, columns]
        )
    columns = changed.any(0).nonzero().squeeze(1)
    if len(columns):
        part = problem.take(columns)
        alpha, free[:, columns] = part.solve(free[:, columns])
        found.put(columns, part.respond(alpha))
    return found, free


@dataclass(frozen=True)
class _Problem:
    """What :func:`find_shift` looks for in some feature dimensions.

    Args:
        z: shape: ``(n, d)``
        graph: the graph
        target: shape: ``(m, d)``
        activation: the activation
        cold: the shift that would be right for the identity; shape: ``(m, d)``
        tolerance: of the cosine; shape: ``(m, d)``
    """

    z: Tensor
    graph: Graph
    target: Tensor
    activation: nn.Module
    cold: Tensor
    tolerance: Tensor

    def take(self, columns: Tensor) -> _Problem:
        """Some feature dimensions of it."""
        arrays = {name: getattr(self, name) for name in ("z", "target", "cold", "tolerance")}
        return replace(self, **{name: array[:, columns] for name, array in arrays.items()})

    def respond(self, alpha: Tensor) -> Response:
        """The response to a shift."""
        return Response.at(alpha, self.z, self.graph, self.activation)

    def improve(self, found: Response, free: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One step where the target is missed: the shift, where it is free, and where it is new."""
        missed = free & ~((found.cosine - self.target).abs() <= self.tolerance)
        step = found.step(self.target)
        step = torch.where(torch.isfinite(step), step, self.cold)
        if negative_slope_of(self.activation) == 0:
            out_of_reach = missed & (found.cosine > self.target) & found.is_flat
            step, free = torch.where(out_of_reach, 0, step), free & ~out_of_reach
        return torch.where(missed, step, found.alpha), free, missed

    def solve(self, free: Tensor) -> tuple[Tensor, Tensor]:
        """The exact shift, and where there is one."""
        interval = smoothness_range(self.z, self.graph, self.activation)
        free = free & interval.contains(self.target)
        parts = Components(self.z, self.graph)
        alpha = exact_shift(parts, self.target, interval, self.activation)
        return torch.where(free, alpha, 0), free
