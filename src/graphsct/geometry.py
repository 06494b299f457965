r"""What an activation does to smoothness, and how a shift inside the eigenspace controls it.

The input :math:`\mathbf z` of an activation is shifted by :math:`\alpha \mathbf e` in each
connected component: :math:`\mathbf z(\alpha) = \mathbf z - \alpha \mathbf e`. That leaves its
distance to the eigenspace as it is, but moves the smoothness of the output :math:`\mathbf
h(\alpha) = \sigma(\mathbf z(\alpha))` through a whole interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphsct.components import Components
from graphsct.errors import GraphError, UnreachableError
from graphsct.graph import Graph
from graphsct.shift import shift_piecewise_linear, shift_smooth

__all__ = ["SmoothnessRange", "Sphere", "smoothness_range", "solve_alpha", "sphere"]

# The activations whose reach is known, with PyTorch's default parameters.
ACTIVATIONS: dict[str, nn.Module] = {
    "relu": nn.ReLU(),
    "leaky_relu": nn.LeakyReLU(),
    "identity": nn.Identity(),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
}


@dataclass(frozen=True)
class Sphere:
    """The sphere on which the rough part of an output lies.

    Args:
        center: shape: ``(n, d)``
        radius: shape: ``()``
        residual: how far the rough part is from the sphere, zero up to rounding; shape: ``()``
    """

    center: Tensor
    radius: Tensor
    residual: Tensor


def sphere(z: Tensor, graph: Graph, negative_slope: float = 0.0) -> Sphere:
    r"""The sphere of ReLU (Proposition 3.2) and of leaky ReLU with slope a (Proposition 3.3).

    For :math:`\mathbf H = \sigma_a(\mathbf Z)` the rough part :math:`\mathbf H_{\mathcal M^\perp}`
    lies on the sphere with

    .. math::
        \text{centre } \tfrac{1 + a}{2} \mathbf Z_{\mathcal M^\perp}, \qquad
        \text{radius } \Big( \big\| \tfrac{1 - a}{2} \mathbf Z_{\mathcal M^\perp} \big\|_F^2 -
        \langle \mathbf H_{\mathcal M} - \mathbf Z_{\mathcal M},
        \mathbf H_{\mathcal M} - a \mathbf Z_{\mathcal M} \rangle_F \Big)^{1/2}.

    Only the radius depends on the smooth part of the input, and it is largest where the inner
    product vanishes: so the output is never farther from the eigenspace than the input.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        negative_slope: a in :math:`[0, 1)`, 0 for ReLU
    """
    a = negative_slope
    if not 0 <= a < 1:
        raise GraphError(f"negative_slope is {a}, expected 0 <= a < 1")
    z_rough = _finite(z, graph) - graph.project(z)
    h = functional.leaky_relu(z, a)
    center = (1 + a) / 2 * z_rough
    ball = ((1 - a) / 2 * z_rough).square().sum()
    # By Lemma B.5 the inner product is that of the positive and negative parts: nothing cancels.
    product = (graph.pool(z.clamp_min(0)) * graph.pool((-z).clamp_min(0))).sum()
    radius = (ball - (1 - a) ** 2 * product).clamp_min(0).sqrt()
    residual = (torch.linalg.norm(h - graph.project(h) - center) - radius).abs()
    return Sphere(center, radius, residual)


@dataclass(frozen=True)
class SmoothnessRange:
    """The normalized smoothness that a shift can reach, per component and feature dimension.

    Args:
        lower: infimum; shape: ``(m, d)``
        upper: supremum; shape: ``(m, d)``
        lower_attained: whether a shift reaches the infimum; shape: ``(m, d)``
        upper_attained: whether a shift reaches the supremum; shape: ``(m, d)``
    """

    lower: Tensor
    upper: Tensor
    lower_attained: Tensor
    upper_attained: Tensor

    def contains(self, target: Tensor) -> Tensor:
        """Whether a shift reaches the target, up to the rounding of the bounds."""
        slack = 8 * torch.finfo(self.lower.dtype).eps
        above = torch.where(self.lower_attained, target >= self.lower - slack, target > self.lower)
        below = torch.where(self.upper_attained, target <= self.upper + slack, target < self.upper)
        return above & below


@torch.no_grad()
def smoothness_range(
    z: Tensor, graph: Graph, activation: str | nn.Module = "relu"
) -> SmoothnessRange:
    r"""The interval of :math:`s(\sigma(\mathbf z - \alpha \mathbf e))` over all :math:`\alpha`.

    With :math:`\mathbf x = \tilde{\mathbf D}^{-1/2} \mathbf z`, on one connected component:

    - ReLU: :math:`\Big[\sqrt{\sum_{x_i = \max x} d_i / \sum_j d_j}, 1\Big]`;
    - leaky ReLU and identity: :math:`[0, 1)`;
    - ELU and SELU: :math:`[0, 1)`.

    That is if the component's rough part is not zero; if it is, the interval is :math:`[1, 1]`, for
    ELU and SELU :math:`(L, 1]`.

    (Propositions 4.3, 4.4 and C.1.) ReLU reaches 1 only with an output that is zero everywhere,
    whose smoothness is 1 by definition. ELU and SELU are not homogeneous, so they bend even a
    smooth input out of the eigenspace: by at most :math:`L = \sum_i \sqrt{d_i} / \sqrt{n \sum_j
    d_j}`, which is 1 on a regular graph.

    *Several components.* Each has its own interval and its own :math:`\alpha`. The square of the
    smoothness of the whole is the mean of the squares of the components' smoothness, weighted by
    :math:`\|\mathbf h_i\|^2`: it lies between the smallest and the largest of them, is ``t`` if
    all are ``t``, and a component whose output is zero has no say. So the whole reaches every
    value that one of its components reaches as long as the others reach it too or can be made
    zero, which is what :func:`solve_alpha` does.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        activation: a name or module: ReLU, leaky ReLU, identity, ELU or SELU
    """
    slope = _negative_slope(_resolve(activation))
    parts = Components(_finite(z, graph), graph)
    constant, ones = parts.constant, torch.ones_like(parts.mean)
    if slope is None:
        bent = parts.bent_limit * ones
        lower, lower_attained = torch.where(constant, bent, 0), ~constant | (bent == 1)
        upper_attained = constant
    else:
        share = parts.share_at_maximum if slope == 0 else 0 * ones
        lower, lower_attained = torch.where(constant, 1, share.sqrt()), ones.bool()
        upper_attained = constant | (slope == 0)
    return SmoothnessRange(lower.to(z.dtype), ones.to(z.dtype), lower_attained, upper_attained)


@torch.no_grad()
def solve_alpha(
    z: Tensor, graph: Graph, target: float | Tensor, activation: str | nn.Module = "relu"
) -> Tensor:
    r"""The shift that gives the output exactly the wanted normalized smoothness.

    .. math::
        s\big(\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\big) = t

    With ReLU and leaky ReLU the equation is quadratic between two neighbouring breakpoints
    :math:`c x_i`, and :math:`\langle \mathbf h, \mathbf e \rangle / \|\mathbf h\|` falls with
    :math:`\alpha`, so one sort finds the piece and a formula the root. ELU and SELU are solved
    with a bracketed root finder. Of several solutions it is the one with :math:`\langle \mathbf
    h, \mathbf e \rangle \ge 0`.

    A target for the whole is given to every component. A component that cannot reach it (an
    isolated node always has smoothness 1) is shifted to a zero output, so that it has no say.

    Args:
        z: the input of the activation; shape: ``(n, d)``
        graph: the graph
        target: t in [0, 1] for the whole output, a number or shape ``(d,)``; or one for each
            component, shape ``(m, d)``
        activation: a name or module: ReLU, leaky ReLU, identity, ELU or SELU

    Returns:
        alpha; shape: ``(m, d)``. The shifted input is ``z - graph.unpool(alpha)``.

    Raises:
        UnreachableError: if no shift gives the target, with the interval that can be had

    Example:
        >>> from graphsct.smoothness import normalized_smoothness
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], dtype=torch.float64)
        >>> z = torch.tensor([[1.0], [0.5], [-1.0]], dtype=torch.float64)
        >>> alpha = solve_alpha(z, graph, 0.8)
        >>> normalized_smoothness((z - graph.unpool(alpha)).relu(), graph)
        tensor([0.8000], dtype=torch.float64)
    """
    activation = _resolve(activation)
    slope = _negative_slope(activation)
    interval = smoothness_range(z, graph, activation)
    wanted = _check_target(target, interval.lower)
    parts = Components(z, graph)
    reachable = interval.contains(wanted)
    can_be_zero = parts.constant | (slope == 0)
    if isinstance(target, Tensor) and target.dim() == 2:
        if not bool(reachable.all()):
            raise _unreachable(wanted, interval, ~reachable)
    elif not bool(((reachable | can_be_zero).all(0) & reachable.any(0)).all()):
        raise _unreachable(wanted, interval, ~(reachable.any(0) & (reachable | can_be_zero)))

    wanted = wanted.double().maximum(interval.lower.double()).clamp_max(1)
    if slope is None:
        alpha = shift_smooth(parts, wanted, activation, reachable)
    else:
        alpha = shift_piecewise_linear(parts, wanted, slope)
    zero = parts.scale * (parts.ceiling if slope == 0 else parts.mean)
    dies = (wanted == 1) & ~parts.constant  # the only way for ReLU to reach 1
    return torch.where(reachable & ~dies, alpha, zero).to(z.dtype)


def _resolve(activation: str | nn.Module) -> nn.Module:
    if isinstance(activation, nn.Module):
        return activation
    if activation not in ACTIVATIONS:
        raise GraphError(
            f"activation is {activation!r}, expected one of {', '.join(ACTIVATIONS)}, or a module "
            "such as torch.nn.LeakyReLU(0.2)"
        )
    return ACTIVATIONS[activation]


def _negative_slope(activation: nn.Module) -> float | None:
    """The slope below 0 of a piecewise linear activation, ``None`` for ELU and SELU."""
    match activation:
        case nn.ReLU():
            return 0.0
        case nn.Identity():
            return 1.0
        case nn.LeakyReLU() if 0 <= activation.negative_slope <= 1:
            return float(activation.negative_slope)
        case nn.SELU():
            return None
        case nn.ELU() if activation.alpha > 0:
            return None
    raise GraphError(
        f"nothing is known about the reach of {activation}; expected ReLU, LeakyReLU with a slope "
        "from 0 to 1, Identity, SELU or ELU with a positive alpha"
    )


def _check_target(target: float | Tensor, like: Tensor) -> Tensor:
    """The target as ``(m, d)``."""
    wanted = torch.as_tensor(target, dtype=like.dtype, device=like.device)
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


def _finite(z: Tensor, graph: Graph) -> Tensor:
    graph.check_whole()
    bad = (~torch.isfinite(graph.check_features(z))).nonzero()
    if len(bad):
        node, dimension = bad[0].tolist()
        raise GraphError(
            f"z[{node}, {dimension}] is {z[node, dimension].item()} ({len(bad)} such entries); "
            "repair it, for instance with z.nan_to_num()"
        )
    return z
