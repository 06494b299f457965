r"""Figure 1: the effect of a shift of the input on the smoothness of the output (section 4.1).

The input is :math:`\mathbf z(\alpha) = \mathbf z - \alpha \mathbf e`. The axis is :math:`\alpha /
c` with :math:`c = \|\tilde{\mathbf D}^{1/2} \mathbf u\|`, the shift of :math:`\mathbf x =
\tilde{\mathbf D}^{-1/2} \mathbf z`: on the paper's interval [-1.5, 1.5] of :math:`\alpha` itself
the output of ReLU does not become zero, contrary to its caption.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from graphsct import geometry
from graphsct.graph import Graph, kernels
from graphsct.paper.example import example_graph
from graphsct.plotting.style import BLACK, BLUE, GREY, ORANGE
from graphsct.smoothness import normalized_smoothness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NEGATIVE_SLOPE", "ShiftCurves", "draw", "shift_curves"]

Array = npt.NDArray[np.float64]

NEGATIVE_SLOPE = 0.2  # with 0.1, leaky ReLU would look like ReLU in panel a
_LIMIT = 1.5


@dataclass(frozen=True)
class Curves:
    """One measure over all shifts, for the input and the two outputs; shape: ``(k,)`` each."""

    input: Array
    relu: Array
    leaky_relu: Array


@dataclass(frozen=True)
class ShiftCurves:
    r"""The data of figure 1.

    Args:
        alpha: the shifts in increasing order; shape: ``(k,)``
        scale: c
        distance: distances to the eigenspace; that of the input is an upper bound for both outputs
            and, times the negative slope, a lower bound for leaky ReLU
        smoothness: normalized smoothness
        relu_minimum: the smallest normalized smoothness that ReLU reaches, by Proposition 4.3
        relu_dies: the smallest shift with a zero output of ReLU, :math:`c \max \mathbf x`
        leaky_relu_zero: the shift at which leaky ReLU has normalized smoothness 0
    """

    alpha: Array
    scale: float
    distance: Curves
    smoothness: Curves
    relu_minimum: float
    relu_dies: float
    leaky_relu_zero: float

    def columns(self) -> dict[str, Any]:
        """Return one row per shift."""
        table = {"alpha_over_c": self.alpha / self.scale, "alpha": self.alpha}
        for measure in ("distance", "smoothness"):
            curves = getattr(self, measure)
            table |= {f"{f.name}_{measure}": getattr(curves, f.name) for f in fields(curves)}
        table["leaky_relu_distance_bound"] = NEGATIVE_SLOPE * self.distance.input
        table["relu_smoothness_minimum"] = np.full_like(self.alpha, self.relu_minimum)
        return table


def shift_curves(seed: int = 0) -> ShiftCurves:
    """Measure one random feature, uniform on [-1.5, 1.5], under 1,201 shifts and four more."""
    graph = example_graph(seed)
    noise = np.random.default_rng([seed, 1]).uniform(-1.5, 1.5, size=(graph.num_nodes, 1))
    z = torch.from_numpy(noise)
    leaky_relu = nn.LeakyReLU(NEGATIVE_SLOPE)
    scale = graph.degree.sum().sqrt()
    dies = scale * (z / graph.degree.sqrt().unsqueeze(1)).max()
    zero = geometry.solve_alpha(z, graph, 0.0, leaky_relu).squeeze()
    grid = scale * torch.linspace(-_LIMIT, _LIMIT, 1201, dtype=z.dtype)
    # The grid alone would step over both zeros and draw the jump as a slope.
    exact = torch.stack([dies, dies - 1e-9 * scale, zero, graph.pool(z).squeeze()])
    alpha, _ = torch.cat([grid, exact]).sort()

    shifted = z - graph.unpool(alpha.unsqueeze(0))
    outputs = dict(input=shifted, relu=shifted.relu(), leaky_relu=leaky_relu(shifted))
    return ShiftCurves(
        alpha=alpha.numpy(),
        scale=scale.item(),
        distance=Curves(**{k: _distance(h, graph).numpy() for k, h in outputs.items()}),
        smoothness=Curves(
            **{k: normalized_smoothness(h, graph).numpy() for k, h in outputs.items()}
        ),
        relu_minimum=geometry.smoothness_range(z, graph, "relu").lower.item(),
        relu_dies=dies.item(),
        leaky_relu_zero=zero.item(),
    )


def _distance(x: Tensor, graph: Graph) -> Tensor:
    """Distance to the eigenspace of each dimension by itself; shapes: ``(n, d) -> (d,)``."""
    return kernels.column_norm(x - graph.project(x))


def draw(data: ShiftCurves) -> Figure:
    """Draw distances on the left, normalized smoothness on the right."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    canvas = Figure(figsize=(11, 5.6), layout=ConstrainedLayoutEngine(w_pad=0.12))
    left, right = canvas.subplots(1, 2)
    _draw_distances(left, data)
    _draw_smoothness(right, data)
    for axes in (left, right):
        axes.set(xlim=(-_LIMIT, _LIMIT), xlabel=r"shift  $\alpha\, /\, c$")
        top = axes.secondary_xaxis(
            "top", functions=(lambda v: v * data.scale, lambda v: v / data.scale)
        )
        top.set_xlabel(r"shift  $\alpha$", color=GREY)
        top.tick_params(colors=GREY)
        top.spines["top"].set_color(GREY)
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3)
    return canvas


def _draw_curves(axes: Axes, data: ShiftCurves, curves: Curves) -> None:
    x = data.alpha / data.scale
    leaky = f"leaky ReLU, slope $a = {NEGATIVE_SLOPE:g}$"
    axes.plot(x, curves.input, color=BLACK, linestyle="--", label=r"input $z - \alpha e$")
    alive = data.alpha < data.relu_dies
    axes.plot(x[alive], curves.relu[alive], color=BLUE, label="ReLU")
    axes.plot(x[~alive], curves.relu[~alive], color=BLUE)
    axes.plot(x, curves.leaky_relu, color=ORANGE, linestyle="-.", label=leaky)


def _draw_distances(axes: Axes, data: ShiftCurves) -> None:
    _draw_curves(axes, data, data.distance)
    upper = data.distance.input[0]
    lower = NEGATIVE_SLOPE * upper
    axes.axhline(lower, color=ORANGE, linestyle=":", linewidth=1.8)
    axes.text(0, 1.02 * upper, "upper bound for both outputs", ha="center", va="bottom")
    bound = r"$a\,\Vert z\Vert_{\mathcal{M}^\perp}$:" + "\nlower bound\nfor leaky ReLU"
    axes.text(-1.42, 1.1 * lower, bound, va="bottom", color=ORANGE)
    axes.set_title("a)  Distance to the eigenspace", pad=12)
    axes.set(
        ylabel=r"distance  $\Vert\cdot\Vert_{\mathcal{M}^\perp}$",
        ylim=(-0.13 * upper, 1.2 * upper),
    )


def _draw_smoothness(axes: Axes, data: ShiftCurves) -> None:
    _draw_curves(axes, data, data.smoothness)
    dies, zero = data.relu_dies / data.scale, data.leaky_relu_zero / data.scale
    least = data.relu_minimum
    axes.axhline(least, color=BLUE, linestyle=":", linewidth=1.8)
    axes.vlines(dies, least, 1, color=BLUE, linestyle=":", linewidth=1.8)
    axes.plot(dies, least, "o", color=BLUE, markerfacecolor="white", markersize=8)
    axes.plot(dies, 1, "o", color=BLUE, markersize=8)
    axes.plot(zero, 0, "D", color=ORANGE, markersize=8, zorder=5)
    formula = r"$\sqrt{\sum_{x_i = \max x} d_i\,/\,\sum_j d_j}$" + f"\n$= {least:.3f}$"
    axes.text(-1.42, least + 0.02, f"minimum of ReLU:\n{formula}", va="bottom", color=BLUE)
    axes.text(1.48, 1.03, r"ReLU dies: $\alpha = c\,\max x$", ha="right", va="bottom", color=BLUE)
    axes.text(zero + 0.1, -0.015, "leaky ReLU: $s = 0$", va="top", color=ORANGE)
    axes.set_title("b)  Normalized smoothness", pad=12)
    axes.set(ylabel=r"normalized smoothness  $s(\cdot)$", ylim=(-0.13, 1.2))
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
