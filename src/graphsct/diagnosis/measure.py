r"""The measures of one layer.

Besides the measures of :mod:`graphsct.smoothness` there is one more, for any model. The eigenspace
:math:`\mathcal M` belongs to the operator of GCN; where neighbours are averaged, as in GraphSAGE
and GAT, features converge to constants instead, as they do behind a large bias. The *contrast* of
features leaves out both: it is their distance to the span of :math:`\mathcal M` and the constants
of each component, and tells the nodes of a component apart.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from graphsct import smoothness
from graphsct.diagnosis.record import Layer
from graphsct.errors import ModelError
from graphsct.geometry import smoothness_range
from graphsct.graph import Graph
from graphsct.records import Record
from graphsct.smoothness.features import norm as frobenius

__all__ = [
    "Contrast",
    "InputReport",
    "LayerReport",
    "Reach",
    "check_finite",
    "measure",
    "measure_entry",
]


@dataclass(frozen=True)
class Reach(Record):
    """The smoothness that a shift inside the eigenspace, before the activation, could reach.

    Args:
        lower: infimum for each dimension
        upper: supremum for each dimension
        position: median position of the live dimensions between the two, 0 to 1; ``None`` if none
            can move
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    position: float | None


@dataclass(frozen=True)
class InputReport(Record):
    """The measures of the input of the first layer.

    Args:
        size: root mean square of the entries
        contrast: share of the norm that tells the nodes of a component apart
        gradient_norm: norm of the gradient of the loss with respect to it
    """

    size: float
    contrast: float
    gradient_norm: float


@dataclass(frozen=True)
class LayerReport(Record):
    """The measures of a layer's features.

    Args:
        name: name of the layer in its model, with the number of the call from the second on
        kind: class of the layer
        where: where its features were recorded: ``input of`` the next part, or ``output``
        channels: number of dimensions
        activation: the activation that gave the features, if it is known
        smoothness: normalized smoothness of each dimension; 1 by definition if it is dead
        sizes: root mean square of each dimension
        dead: numbers of the dimensions that are zero at every node
        quartiles: quartiles of the smoothness of the live dimensions, ``None`` if all are dead
        norm: norm of all features
        size: root mean square of their entries
        distance: distance to the eigenspace
        relative_distance: distance over norm, 0 if all dimensions are dead
        dirichlet_energy: Dirichlet energy, which grows with the square of the scale
        normalized_dirichlet_energy: Dirichlet energy over squared norm, in ``[0, 2)``
        mean_average_distance: mean distance of neighbours, by angle
        effective_rank: between 1 and the number of dimensions, 0 if all are dead
        numerical_rank: between 1 and the effective rank or near it, 0 if all are dead
        correlation: mean absolute correlation of two dimensions
        contrast: share of the norm that tells the nodes of a component apart, in [0, 1]
        contrast_rank: effective rank of that part, 0 if it is only rounding
        gradient_norm: norm of the gradient of the loss with respect to the features
        frozen: whether the layer has weights, none of which can be trained
        reach: smoothness that control could reach, if the activation is known
    """

    name: str
    kind: str
    where: str
    channels: int
    activation: str | None
    smoothness: tuple[float, ...]
    sizes: tuple[float, ...]
    dead: tuple[int, ...]
    quartiles: tuple[float, float, float] | None
    norm: float
    size: float
    distance: float
    relative_distance: float
    dirichlet_energy: float
    normalized_dirichlet_energy: float
    mean_average_distance: float
    effective_rank: float
    numerical_rank: float
    correlation: float
    contrast: float
    contrast_rank: float
    gradient_norm: float
    frozen: bool
    reach: Reach | None

    @property
    def part(self) -> str:
        """The name of the layer in its model, without the number of the call."""
        return re.sub(r" \(\d+\)$", "", self.name)


class Contrast:
    r"""Removes what the nodes of a component have in common.

    With :math:`\mathbf w = \mathbf 1 - \mathbf Q \mathbf Q^\top \mathbf 1`, which is orthogonal to
    :math:`\mathcal M`, the features lose their part in :math:`\mathcal M` and, in each component,
    their part along :math:`\mathbf w`.

    Args:
        graph: the graph

    Example:
        >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> constant, smooth = torch.ones(3), graph.degree.sqrt()
        >>> part = Contrast(graph)(torch.stack([constant, smooth, constant + 5 * smooth], dim=1))
        >>> bool((part.abs() < 1e-5).all())
        True
    """

    def __init__(self, graph: Graph) -> None:
        graph.check_whole()
        ones = torch.ones_like(graph.degree).unsqueeze(1)
        w = ones - graph.project(ones)
        self.graph = graph
        self._u = w / graph.basis.unsqueeze(1)  # pool(u * x) sums w * x over each component
        total = graph.pool(self._u * w)
        nodes = graph.pool(ones / graph.basis.unsqueeze(1))
        regular = total <= 1e-6 * nodes  # all degrees are equal: constants are in M already
        self._inverse = torch.where(regular, 0, 1 / torch.where(regular, 1, total))
        common = graph.num_components + int((~regular).sum())
        #: Share of the directions in which the nodes of a component can differ.
        self.room = max(0, graph.num_nodes - common) / graph.num_nodes

    def __call__(self, x: Tensor) -> Tensor:
        """The part that tells the nodes of a component apart; shapes: ``(n, d) -> (n, d)``."""
        rough = x - self.graph.project(x)
        along = self.graph.pool(self._u * rough) * self._inverse
        return rough - self._u * self.graph.unpool(along)


def measure(
    layer: Layer, gradient: Tensor | None, contrast: Contrast, *, reach: bool = True
) -> LayerReport:
    """The report of one layer.

    Args:
        layer: recorded layer with finite features
        gradient: gradient of the loss with respect to its features, ``None`` if the loss does not
            depend on them; shape: ``(n, d)``
        contrast: contrast on the graph
        reach: also compute the smoothness that control could reach, the slowest measure
    """
    graph = contrast.graph
    x = layer.features.detach().to(graph.dtype)
    dead = smoothness.dead_dimensions(x)
    s = smoothness.normalized_smoothness(x, graph)
    scale = x.abs().max().item() if x.numel() else 0.0
    x = x / scale if scale else x  # so that squares do not overflow
    norm = frobenius(x).item()
    distance = smoothness.distance_to_eigenspace(x, graph).item()
    energy = smoothness.dirichlet_energy(x, graph).item()
    apart = contrast(x)
    share = frobenius(apart).item() / (norm or 1)
    rounding = share < 64 * torch.finfo(x.dtype).eps
    live = s[~dead]
    return LayerReport(
        name=layer.name,
        kind=layer.kind,
        where=layer.where,
        channels=x.shape[1],
        activation=None if layer.activation is None else str(layer.activation),
        smoothness=tuple(s.tolist()),
        sizes=tuple(scale * size for size in x.square().mean(0).sqrt().tolist()),
        dead=tuple(dead.nonzero()[:, 0].tolist()),
        quartiles=_quartiles(live) if len(live) else None,
        norm=scale * norm,
        size=scale * norm / max(1, x.numel()) ** 0.5,
        distance=scale * distance,
        relative_distance=distance / (norm or 1),
        dirichlet_energy=scale**2 * energy,
        normalized_dirichlet_energy=energy / (norm or 1) ** 2,
        mean_average_distance=smoothness.mean_average_distance(x, graph).item(),
        effective_rank=smoothness.effective_rank(x).item(),
        numerical_rank=smoothness.numerical_rank(x).item(),
        correlation=smoothness.over_correlation(apart).item(),
        contrast=min(1.0, share),
        contrast_rank=0.0 if rounding else smoothness.effective_rank(apart).item(),
        gradient_norm=0.0 if gradient is None else _norm(layer.title, gradient),
        frozen=layer.frozen,
        reach=_reach(layer, s, dead, graph) if reach else None,
    )


def measure_entry(entry: Tensor, gradient: Tensor | None, contrast: Contrast) -> InputReport:
    """The measures of the input of the first layer.

    Args:
        entry: shape: ``(n, d)``
        gradient: of the loss with respect to it, ``None`` if there is none; shape: ``(n, d)``
        contrast: contrast on the graph
    """
    x = entry.detach().to(contrast.graph.dtype)
    norm = frobenius(x).item()
    return InputReport(
        size=norm / max(1, x.numel()) ** 0.5,
        contrast=min(1.0, frobenius(contrast(x)).item() / (norm or 1)),
        gradient_norm=0.0 if gradient is None else _norm("the input", gradient),
    )


def check_finite(layer: Layer) -> None:
    """Raise an error that names the layer, if its features are not finite."""
    x = layer.features.detach()
    if not bool(torch.isfinite(x).all()):
        bad = x[~torch.isfinite(x)]
        raise ModelError(
            f"the features of {layer.title} hold {bad[0].item()} (entries that are not finite: "
            f"{len(bad)}): training diverged there; lower the learning rate, and look at the layer "
            "before it"
        )


def _norm(where: str, gradient: Tensor) -> float:
    norm: float = torch.linalg.vector_norm(gradient, dtype=torch.float64).item()
    if not math.isfinite(norm):
        raise ModelError(
            f"the gradient at {where} is {norm}: it exploded; lower "
            "the learning rate or clip gradients"
        )
    return norm


def _quartiles(values: Tensor) -> tuple[float, float, float]:
    low, median, high = values.quantile(values.new_tensor([0.25, 0.5, 0.75])).tolist()
    return low, median, high


def _reach(layer: Layer, s: Tensor, dead: Tensor, graph: Graph) -> Reach | None:
    """The interval of the whole output: each component reaches its own, or can be made zero."""
    if layer.before is None or not isinstance(layer.activation, nn.Module):
        return None
    found = smoothness_range(layer.before.to(graph.dtype), graph, layer.activation)
    lower, upper = found.lower.amin(0), found.upper.amax(0)
    moves = ~dead & (upper > lower)
    place = ((s - lower) / (upper - lower))[moves].clamp(0, 1)
    position = place.quantile(0.5).item() if len(place) else None
    return Reach(tuple(lower.tolist()), tuple(upper.tolist()), position)
