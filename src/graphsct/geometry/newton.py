r"""The shift that gives an output the wanted smoothness, by a few steps of Newton's method.

:func:`~graphsct.geometry.solve_alpha` sorts all features in float64. A layer needs the shift in
every forward pass: from that of the identity, two or three steps are enough for most dimensions,
each linear in the number of entries, and the dimensions that are done drop out. What they do not
find, the exact solver finds, as far as rounding allows. The shift of the last forward pass is no
better start: weights and dropout move it by more than the steps save.

With :math:`\mathbf y = \mathbf z / \mathbf e` and :math:`\mathbf v = \mathbf h / \mathbf e`, entry
by entry, a shift subtracts :math:`\alpha` from all of :math:`\mathbf y`, and inner products in a
component are averages weighted by the degrees, :math:`\langle \mathbf h, \mathbf e \rangle = \sum_i
e_i^2 v_i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from graphsct.geometry.activations import negative_slope_of, slope_of
from graphsct.geometry.alpha import exact_shift
from graphsct.geometry.components import Components
from graphsct.geometry.range import smoothness_range
from graphsct.graph import Graph

__all__ = ["Response", "find_shift", "respond", "spread"]

#: Steps of all dimensions together, after which few of float32 are left.
_TOGETHER = 3
#: Further steps of those that are left, before the exact solver takes over.
_STEPS = 6
#: Rounding of a component's rough part, in units of that part, from which on it counts as zero.
_ROUNDING = 1e-2
#: Share of the active degrees below which the output is smooth on its active nodes.
_FLAT = 1e-5


def spread(a: Tensor, graph: Graph, out: Tensor) -> Tensor:
    """The value of each node's component, in ``out`` if there are several; ``(m, d) -> (n, d)``."""
    if graph.num_components == 1:
        return a
    return torch.index_select(a, 0, graph.component, out=out)


def respond(shifted: Tensor, graph: Graph, activation: nn.Module) -> tuple[Tensor, Tensor]:
    r"""The output over the basis, :math:`\mathbf v`, and the slope of the activation, at a kink
    that of PyTorch, from :math:`\mathbf y - \alpha`; shapes: ``(n, d) -> (n, d), (n, d)``.
    """
    if negative_slope_of(activation) is not None:  # homogeneous
        return activation(shifted), slope_of(activation, shifted)
    basis = graph.basis.unsqueeze(1)
    z = shifted * basis
    return activation(z).div_(basis), slope_of(activation, z)


@dataclass(frozen=True)
class Response:
    r"""How the output :math:`\mathbf h = \sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)` answers a
    shift, component by component; all of shape ``(m, d)``.

    Args:
        alpha: the shift
        inner: :math:`\langle \mathbf h, \mathbf e \rangle`
        square: :math:`\|\mathbf h\|^2`
        fall: :math:`-\partial \langle \mathbf h, \mathbf e \rangle / \partial \alpha = \langle
            \mathbf e, \sigma' \mathbf e \rangle`
        shrink: :math:`-\partial \|\mathbf h\|^2 / 2 \partial \alpha = \langle \mathbf h, \sigma'
            \mathbf e \rangle`
        bend: :math:`\|\sigma' \mathbf e\|^2`
    """

    alpha: Tensor
    inner: Tensor
    square: Tensor
    fall: Tensor
    shrink: Tensor
    bend: Tensor

    @classmethod
    def at(
        cls, alpha: Tensor, y: Tensor, graph: Graph, activation: nn.Module, work: Sequence[Tensor]
    ) -> Response:
        """The response to a shift.

        Args:
            alpha: shape: ``(m, d)``
            y: the features over the basis; shape: ``(n, d)``
            graph: the graph
            activation: the activation
            work: two arrays to compute in; shape: ``(n, d)``
        """
        shifted, other = work
        torch.sub(y, spread(alpha, graph, shifted), out=shifted)
        if negative_slope_of(activation) == 0:
            output = shifted.clamp_min_(0)
            inner = graph.averaging(output)
            fall = graph.averaging(torch.gt(output, 0, out=other))
            return cls(alpha, inner, graph.averaging(output.square_()), fall, inner, fall)
        output, slope = respond(shifted, graph, activation)
        inner = graph.averaging(output)
        square = graph.averaging(torch.mul(output, output, out=other))
        shrink = graph.averaging(output.mul_(slope))
        bend = graph.averaging(torch.mul(slope, slope, out=other))
        return cls(alpha, inner, square, graph.averaging(slope), shrink, bend)

    def take(self, columns: Tensor) -> Response:
        """The response in some feature dimensions."""
        arrays = {id(array): array.index_select(1, columns) for array in vars(self).values()}
        return Response(*(arrays[id(array)] for array in vars(self).values()))

    def put(self, columns: Tensor, part: Response) -> None:
        """Replace the response in some feature dimensions."""
        for name, array in vars(self).items():
            array.index_copy_(1, columns, getattr(part, name))

    @property
    def cosine(self) -> Tensor:
        r""":math:`\langle \mathbf h, \mathbf e \rangle / \|\mathbf h\|`; shape: ``(m, d)``."""
        return self.inner * self.square.rsqrt()

    @property
    def steepness(self) -> Tensor:
        r""":math:`-\|\mathbf h\| \, \partial \cos / \partial \alpha`; shape: ``(m, d)``."""
        return self.fall - self.inner * self.shrink / self.square

    def step(self, target: Tensor) -> Tensor:
        r"""The shift that solves :math:`\langle \mathbf h + \delta \sigma' \mathbf e, \mathbf e
        \rangle = t \|\mathbf h + \delta \sigma' \mathbf e\|`, where the output is linear in
        :math:`\delta`. It is a step of Newton's method. From the identity's shift, ReLU and leaky
        ReLU go right and never too far: a node that passes the kink has less effect than the
        linear output foresees, so the exact shift is still further right.
        """
        q = target.square()
        if self.shrink is self.inner:  # ReLU: the mean of the active nodes, and their variance
            mean = self.inner / self.fall
            square = torch.addcmul(self.square / self.fall, mean, mean, value=-1)
            square.mul_(q).div_(self.fall - q)
            return mean.add_(self.alpha).addcmul_(square, square.rsqrt(), value=-1)
        second = self.fall.square() - q * self.bend
        first = self.inner * self.fall - q * self.shrink
        zeroth = self.inner.square() - q * self.square
        root = (first.square() - second * zeroth).sqrt()
        left = torch.where(first > 0, -zeroth / (first + root), (root - first) / second)
        return self.alpha - left


@torch.no_grad()
def find_shift(
    z: Tensor,
    graph: Graph,
    target: Tensor,
    activation: nn.Module,
    work: Sequence[Tensor] | None = None,
) -> tuple[Response, Tensor, Tensor]:
    r"""The shift by which every component has its wanted smoothness, where that can be reached.

    A component that cannot reach it keeps its features, :math:`\alpha = 0`: one without a rough
    part, such as an isolated node, and with ReLU one whose largest entry alone is smoother.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        target: t in (0, 1); shape: ``(m, d)``
        activation: ReLU, leaky ReLU, identity, ELU or SELU
        work: three arrays to compute in; shape: ``(n, d)``

    Returns:
        The response to the shift, which entries have their wanted smoothness, and the norm of the
        features; shape: ``(m, d)``
    """
    y, *rest = work or (torch.empty_like(z), torch.empty_like(z), torch.empty_like(z))
    torch.div(z, graph.basis.unsqueeze(1), out=y)
    inner, eps = graph.averaging(y), torch.finfo(z.dtype).eps
    rough = torch.sub(y, spread(inner, graph, rest[0]), out=rest[0]).square_()
    square = graph.averaging(rough)
    deviation, norm = square.sqrt(), square.addcmul_(inner, inner).sqrt_()
    rounding = inner.abs().mul_(eps).div_(deviation)  # in units of the shifted features
    free = rounding < _ROUNDING
    moves = free.to(z.dtype)
    cold = torch.addcmul(inner, target * (1 - target.square()).rsqrt_(), deviation, value=-1)
    cold.nan_to_num_(0, 0, 0).mul_(moves)
    tolerance = rounding.mul_(8).add_(eps**0.75 + eps * len(z) ** 0.5)
    problem = _Problem(y, graph, target, activation, cold, tolerance)
    found = Response.at(cold.clone(), y, graph, activation, rest)
    for _ in range(_TOGETHER):
        step = found.step(target).sub_(found.alpha).nan_to_num_(0, 0, 0)
        alpha = torch.addcmul(found.alpha, step, moves)
        found = Response.at(alpha, y, graph, activation, rest)
    missed = problem.missed(found, free)
    for _ in range(_STEPS):
        columns = missed.any(0).nonzero().squeeze(1)
        if not len(columns):
            return found, free, norm
        part = problem.take(columns)
        alpha, free[:, columns], settled = part.improve(found.take(columns), free[:, columns])
        response = part.respond(alpha)
        found.put(columns, response)
        missed = torch.zeros_like(free)
        missed[:, columns] = part.missed(response, free[:, columns]) & ~settled
    columns = missed.any(0).nonzero().squeeze(1)
    if len(columns):
        part = problem.take(columns)
        alpha, free[:, columns] = part.solve(free[:, columns])
        found.put(columns, part.respond(alpha))
    return found, free, norm


@dataclass(frozen=True)
class _Problem:
    """What :func:`find_shift` looks for in some feature dimensions.

    Args:
        y: the features over the basis; shape: ``(n, d)``
        graph: the graph
        target: shape: ``(m, d)``
        activation: the activation
        cold: the shift that would be right for the identity; shape: ``(m, d)``
        tolerance: of the cosine; shape: ``(m, d)``
    """

    y: Tensor
    graph: Graph
    target: Tensor
    activation: nn.Module
    cold: Tensor
    tolerance: Tensor

    def take(self, columns: Tensor) -> _Problem:
        """The same problem for some of the feature dimensions."""
        arrays = {name: getattr(self, name) for name in ("y", "target", "cold", "tolerance")}
        return replace(
            self, **{name: array.index_select(1, columns) for name, array in arrays.items()}
        )

    def respond(self, alpha: Tensor) -> Response:
        """The response to a shift."""
        work = torch.empty_like(self.y), torch.empty_like(self.y)
        return Response.at(alpha, self.y, self.graph, self.activation, work)

    def missed(self, found: Response, free: Tensor) -> Tensor:
        """Where a response is not as smooth as wanted, though it can be; shape: ``(m, d)``."""
        error = found.cosine.sub_(self.target).abs_()
        return free & ~(error <= self.tolerance)

    def improve(self, found: Response, free: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The shift after a step where the target is missed, where it can be reached, and where
        the step is 0, so that rounding allows no better shift.
        """
        missed, step = self.missed(found, free), found.step(self.target)
        settled = step == found.alpha
        step = torch.where(step.abs() < torch.inf, step, self.cold)
        if negative_slope_of(self.activation) == 0:
            flat = (found.steepness <= _FLAT * found.fall) & (found.cosine > self.target)
            out_of_reach = flat & missed
            step, free = torch.where(out_of_reach, 0, step), free & ~out_of_reach
        return torch.where(missed, step, found.alpha), free, settled

    def solve(self, free: Tensor) -> tuple[Tensor, Tensor]:
        """The exact shift, and where there is one."""
        z = self.y * self.graph.basis.unsqueeze(1)
        interval = smoothness_range(z, self.graph, self.activation)
        free = free & interval.contains(self.target)
        parts = Components(z, self.graph)
        alpha = exact_shift(parts, self.target, interval, self.activation)
        return torch.where(free, alpha, 0), free
