r"""Figure 2: the effect of the shift on features over many layers (section 6.1).

Two nodes with one feature each are a point in the plane, so a network is a trajectory:
:math:`\mathbf h \leftarrow \sigma(w \mathbf h \mathbf G + \alpha \mathbf e)` with ReLU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphsct.plotting.style import RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

__all__ = ["Trajectories", "draw", "trajectories"]

Array = npt.NDArray[np.float64]

ALPHAS = (-0.25, 0.0, 1.0)
WEIGHT = 1.2
OPERATOR = np.array([[0.592, 0.194], [0.194, 0.908]])
LAYERS = 10  # by then every trajectory is within 0.01 of the eigenspace

_XLIM, _YLIM = (-1.2, 2.0), (-1.2, 3.2)  # where trajectories still differ; they run on upwards
_FULL_COLOUR = 3.5
_PIECES = 12


@dataclass(frozen=True)
class Trajectories:
    r"""Trajectories for several shifts.

    Args:
        alpha: shape: ``(a,)``
        eigenvector: the unit vector :math:`\mathbf e` that spans the eigenspace; shape: ``(2,)``
        h: shape: ``(a, trajectories, layers + 1, 2)``
    """

    alpha: Array
    eigenvector: Array
    h: Array

    @property
    def magnitude(self) -> Array:
        r""":math:`\|\mathbf h\|`; shape: ``(a, trajectories, layers + 1)``."""
        norm: Array = np.linalg.norm(self.h, axis=-1)
        return norm

    @property
    def distance(self) -> Array:
        r""":math:`\|\mathbf h\|_{\mathcal M^\perp}`; shape: ``(a, trajectories, layers + 1)``."""
        e = self.eigenvector
        norm: Array = np.linalg.norm(self.h - (self.h @ e)[..., None] * e, axis=-1)
        return norm

    def columns(self) -> dict[str, Any]:
        """Return one row per point."""
        alpha, start, layer = np.indices(self.h.shape[:-1]).reshape(3, -1)
        return {
            "alpha": self.alpha[alpha],
            "trajectory": start,
            "layer": layer,
            "h1": self.h[..., 0].ravel(),
            "h2": self.h[..., 1].ravel(),
            "magnitude": self.magnitude.ravel(),
            "distance_to_eigenspace": self.distance.ravel(),
        }


def trajectories() -> Trajectories:
    """Twenty starts, evenly over the square [-1, 1] x [-1, 1], through ten layers."""
    e = np.linalg.eigh(OPERATOR)[1][:, -1]  # of eigenvalue 1; 1.0002 with the paper's three digits
    e = e * np.sign(e.sum())
    grid = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 4), indexing="ij")
    alpha = np.array(ALPHAS)
    h = [np.broadcast_to(np.stack(grid, axis=-1).reshape(-1, 2), (len(alpha), 20, 2))]
    for _ in range(LAYERS):
        h.append(np.maximum(WEIGHT * h[-1] @ OPERATOR + alpha[:, None, None] * e, 0))
    return Trajectories(alpha, e, np.stack(h, axis=2))


def draw(data: Trajectories) -> Figure:
    """Draw one panel per shift, all with the same axes and colours."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    # The yellow end of viridis is lost on a white slide.
    shades = LinearSegmentedColormap.from_list("dark", colormaps["viridis"](np.linspace(0, 0.9)))
    scale = Normalize(0, _FULL_COLOUR)
    canvas = Figure(figsize=(11, 6.2), layout="constrained")
    panels = canvas.subplots(1, len(data.alpha), sharex=True, sharey=True)
    for k, axes in enumerate(panels):
        _draw_panel(axes, data, k, shades, scale)
    canvas.suptitle(rf"$h \leftarrow \mathrm{{ReLU}}({WEIGHT:g}\, h\, G + \alpha\, e)$")
    panels[0].set_ylabel("feature of node 2,  $h_2$")
    bar = canvas.colorbar(
        ScalarMappable(scale, shades), ax=panels, extend="max", pad=0.015, shrink=0.9
    )
    bar.set_label(r"magnitude  $\Vert h \Vert$")
    marks = dict[str, Any](color="black", linestyle="")
    canvas.legend(
        [
            Line2D([], [], color=RED, linestyle="--", linewidth=2.2),
            Line2D([], [], marker="o", markersize=8, markerfacecolor="white", **marks),
            Line2D([], [], marker="X", markersize=10, **marks),
        ],
        [
            r"eigenspace $\mathcal{M}$",
            "start, then one dot per layer",
            "dead: both features zero",
        ],
        loc="outside lower center",
        ncols=3,
    )
    return canvas


def _draw_panel(axes: Axes, data: Trajectories, k: int, shades: Colormap, scale: Normalize) -> None:
    from matplotlib.collections import LineCollection

    e = data.eigenvector
    axes.plot(*np.outer(e, [-4, 4]), color=RED, linestyle="--", linewidth=2.2, zorder=3)
    pieces = _pieces(data.h[k])
    axes.add_collection(
        LineCollection(list(pieces), colors=_colours(pieces.mean(1), shades, scale), linewidths=2)
    )
    starts, later = data.h[k, :, 0], _visible(data.h[k, :, 1:].reshape(-1, 2))
    axes.scatter(later[:, 0], later[:, 1], s=16, c=_colours(later, shades, scale), zorder=4)
    axes.scatter(starts[:, 0], starts[:, 1], s=48, facecolors="white", edgecolors="black", zorder=5)
    _draw_arrows(axes, data.h[k], shades, scale)
    dead = int((data.magnitude[k, :, -1] == 0).sum())
    if dead:
        axes.plot(0, 0, marker="X", color="black", markersize=11, zorder=6)
    shift = f"{data.alpha[k]:g}".replace("-", "−")
    axes.set_title(f"{'abc'[k]})  α = {shift}{'  (plain GCN)' * (shift == '0')}", pad=26)
    ending = f"{dead} of {len(starts)} dead after {LAYERS} layers"
    axes.text(0.5, 1.02, ending, transform=axes.transAxes, ha="center", va="bottom")
    axes.set(xlim=_XLIM, ylim=_YLIM, aspect="equal", xlabel="feature of node 1,  $h_1$")


def _draw_arrows(axes: Axes, h: Array, shades: Colormap, scale: Normalize) -> None:
    """Draw arrow heads in the middle of the first three steps, if these are long enough."""
    steps = np.stack([h[:, :3], h[:, 1:4]], axis=2).reshape(-1, 2, 2)
    for tail, head in steps:
        middle, length = (tail + head) / 2, np.linalg.norm(head - tail)
        if length < 0.3 or middle[1] > _YLIM[1]:
            continue
        half = 0.05 * (head - tail) / length
        axes.annotate(
            "",
            xy=middle + half,
            xytext=middle - half,
            arrowprops=dict(
                arrowstyle="-|>",
                color=_colours(middle, shades, scale),
                mutation_scale=15,
                shrinkA=0,
                shrinkB=0,
            ),
        )


def _pieces(h: Array) -> Array:
    """Visible steps, cut into pieces of one colour each;
    shapes: ``(trajectories, layers + 1, 2) -> (pieces, 2, 2)``.
    """
    t = np.linspace(0, 1, _PIECES + 1)[:, None]
    along = h[:, :-1, None] + t * (h[:, 1:, None] - h[:, :-1, None])
    pieces = np.stack([along[:, :, :-1], along[:, :, 1:]], axis=3).reshape(-1, 2, 2)
    return _visible(pieces[(pieces[:, 0] != pieces[:, 1]).any(-1)])


def _visible(points: Array) -> Array:
    """Leave out points and pieces above the panel, where trajectories run on."""
    lowest = points[..., 1].reshape(len(points), -1).min(1)
    kept: Array = points[lowest <= _YLIM[1]]
    return kept


def _colours(points: Array, shades: Colormap, scale: Normalize) -> Any:
    return shades(scale(np.linalg.norm(points, axis=-1)))
