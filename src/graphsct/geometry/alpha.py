r"""The shift inside the eigenspace that gives an output the wanted smoothness."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphsct.errors import GraphError, UnreachableError
from graphsct.geometry.activations import negative_slope_of, resolve
from graphsct.geometry.components import Components
from graphsct.geometry.range import SmoothnessRange, smoothness_range
from graphsct.geometry.shift import shift_piecewise_linear, shift_smooth
from graphsct.graph import Graph

__all__ = ["exact_shift", "solve_alpha"]


@torch.no_grad()
def solve_alpha(
    z: Tensor, graph: Graph, target: float | Tensor, activation: str | nn.Module = "relu"
) -> Tensor:
    r"""The shift that gives the output exactly the wanted normalized smoothness.

    .. math::
        s\big(\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\big) = t

    With ReLU and leaky ReLU the equation is quadratic between two neighbouring breakpoints
    :math:`z_i \sqrt{\sum_j d_j / d_i}`, and :math:`\langle \mathbf h, \mathbf e \rangle /
    \|\mathbf h\|` falls with :math:`\alpha`. So a sort finds the piece, and a formula finds the
    root. ELU and SELU are solved with a bracketed root finder. Of several solutions, the one with
    :math:`\langle \mathbf h, \mathbf e \rangle \ge 0` is returned.

    A target for the whole output applies to every component. A component that cannot reach it (an
    isolated node always has smoothness 1) is shifted to a zero output, which has no effect.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        target: t in [0, 1] for the whole output, a number or shape ``(d,)``; or one for each
            component, shape ``(m, d)``
        activation: a name or module: ReLU, leaky ReLU, identity, ELU or SELU

    Returns:
        alpha; shape: ``(m, d)``. The shifted input is ``z - graph.unpool(alpha)``.

    Raises:
        UnreachableError: if no shift gives the target (the message states the reachable interval),
            or if rounding keeps the output from the target, up to half the digits of the dtype

    Example:
        >>> from graphsct.smoothness import normalized_smoothness
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], dtype=torch.float64)
        >>> z = torch.tensor([[1.0], [0.5], [-1.0]], dtype=torch.float64)
        >>> alpha = solve_alpha(z, graph, 0.8)
        >>> normalized_smoothness((z - graph.unpool(alpha)).relu(), graph)
        tensor([0.8000], dtype=torch.float64)
    """
    activation = resolve(activation)
    slope = negative_slope_of(activation)
    interval = smoothness_range(z, graph, activation)
    wanted = _check_target(target, interval.lower)
    parts = Components(z, graph)
    reachable = interval.contains(wanted)
    can_be_zero = parts.constant | (slope == 0)
    each = isinstance(target, Tensor) and target.dim() == 2
    if each:
        if not bool(reachable.all()):
            raise _unreachable(wanted, interval, ~reachable)
    elif not bool(((reachable | can_be_zero).all(0) & reachable.any(0)).all()):
        raise _unreachable(wanted, interval, ~(reachable.any(0) & (reachable | can_be_zero)))

    alpha = exact_shift(parts, wanted, interval, activation)
    _check_reached(activation(z - graph.unpool(alpha)), wanted if each else wanted[:1], parts)
    return alpha


def exact_shift(
    parts: Components, wanted: Tensor, interval: SmoothnessRange, activation: nn.Module
) -> Tensor:
    """The shift of :func:`solve_alpha`, without its check for rounding; shape: ``(m, d)``.

    In a component that cannot reach its target, the shift makes the output of ReLU zero; for any
    other activation it removes the smooth part.
    """
    slope = negative_slope_of(activation)
    reachable = interval.contains(wanted)
    inside = wanted.double().maximum(interval.lower.double()).clamp_max(1)
    if slope is None:
        alpha = shift_smooth(parts, inside, activation, reachable)
    else:
        alpha = shift_piecewise_linear(parts, inside, slope)
    zero = parts.scale * (parts.ceiling if slope == 0 else parts.mean)
    dies = (inside == 1) & ~parts.constant  # the only way for ReLU to reach 1
    return torch.where(reachable & ~dies, alpha, zero).to(interval.lower.dtype)


def _check_target(target: float | Tensor, like: Tensor) -> Tensor:
    """The target as ``(m, d)``."""
    try:
        wanted = torch.as_tensor(target, dtype=like.dtype, device=like.device)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(f"target is {target!r}, expected a number or a tensor") from error
    if wanted.dim() > 2 or (wanted.dim() and wanted.shape not in (like.shape[1:], like.shape)):
        raise GraphError(
            f"target has shape {tuple(wanted.shape)}, expected a number, {tuple(like.shape[1:])} "
            f"or {tuple(like.shape)}"
        )
    outside = ~((wanted >= 0) & (wanted <= 1))
    if bool(outside.any()):
        raise UnreachableError(
            f"target is {wanted[outside].view(-1)[0].item()}; normalized smoothness lies in [0, 1]"
        )
    return wanted.expand_as(like)


def _check_reached(h: Tensor, wanted: Tensor, parts: Components) -> None:
    """Raise an error if rounding kept the output from its smoothness; ``(1, d)`` for the whole."""
    along = (parts.sum(parts.degree.sqrt() * h.double()) / parts.scale).square()
    square = parts.sum(h.double().square())
    if len(wanted) == 1:
        along, square = along.sum(0, keepdim=True), square.sum(0, keepdim=True)
    reached = torch.where(square > 0, along / square, 1).sqrt()
    missed = ~((reached - wanted).abs() <= torch.finfo(h.dtype).eps ** 0.5)
    if bool(missed.any()):
        component, dimension = missed.nonzero()[0].tolist()
        where = f" in component {component}" if len(wanted) > 1 else ""
        wider = "" if h.dtype == torch.float64 else "float64, or "
        raise UnreachableError(
            f"the shift of dimension {dimension}{where} gives the smoothness "
            f"{reached[component, dimension].item():.9g} instead of "
            f"{wanted[component, dimension].item():.9g}, by rounding in {h.dtype}; "
            f"use {wider}features with a smaller smooth part"
        )


def _unreachable(wanted: Tensor, interval: SmoothnessRange, bad: Tensor) -> UnreachableError:
    component, dimension = bad.nonzero()[0].tolist()
    left = "[" if interval.lower_attained[component, dimension] else "("
    right = "]" if interval.upper_attained[component, dimension] else ")"
    return UnreachableError(
        f"no shift gives dimension {dimension} in component {component} the smoothness "
        f"{wanted[component, dimension].item():.9g}; it reaches {left}"
        f"{interval.lower[component, dimension].item():.9g}, "
        f"{interval.upper[component, dimension].item():.9g}{right}"
    )
