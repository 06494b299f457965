"""A diagnosis as pictures: smoothness by layer and dimension, and every measure by layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.paper.figures import save
from graphsct.paper.figures.heat import SHADES, apart_patch, draw_heat
from graphsct.paper.figures.style import BLACK, BLUE, ORANGE, RED, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curves", "HeatMap", "draw_curves", "draw_heat_map", "write_figures"]


def write_figures(found: Diagnosis, folder: Path) -> list[Path]:
    """Both figures as PNG, SVG and CSV."""
    heat_map, curves = HeatMap(found), Curves(found)
    with styled():
        return [
            *save("smoothness", draw_heat_map(heat_map), heat_map, folder),
            *save("layers", draw_curves(curves), curves, folder),
        ]


@dataclass(frozen=True)
class HeatMap:
    """Normalized smoothness of every dimension of every layer."""

    found: Diagnosis

    def columns(self) -> dict[str, list[Any]]:
        """One row a dimension of a layer."""
        rows = [
            {
                "layer": number,
                "name": layer.name,
                "dimension": dimension,
                "smoothness": value,
                "dead": dimension in layer.dead,
            }
            for number, layer in enumerate(self.found.layers, 1)
            for dimension, value in enumerate(layer.smoothness)
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}


@dataclass(frozen=True)
class Curves:
    """Every measure of every layer."""

    found: Diagnosis

    def columns(self) -> dict[str, list[Any]]:
        """One row a layer."""
        rows = []
        for number, layer in enumerate(self.found.layers, 1):
            low, median, high = layer.quartiles or (None, None, None)
            values = {"layer": number, "state": self.found.states[number - 1], **layer.to_dict()}
            values |= {"dead": len(layer.dead), "smoothness": median}
            values |= {"smoothness_quarter": low, "smoothness_three_quarters": high}
            values["reach_lower"] = None if layer.reach is None else min(layer.reach.lower)
            values["reach_position"] = None if layer.reach is None else layer.reach.position
            del values["quartiles"], values["reach"]
            rows.append(values)
        return {name: [row[name] for row in rows] for name in rows[0]}


def draw_heat_map(data: HeatMap) -> Figure:
    """A row a layer, a column a dimension; dead dimensions are hatched, not coloured."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    found, scale = data.found, Normalize(0, 1)
    width, depth = max(layer.channels for layer in found.layers), len(found.layers)
    values, dead = np.full((depth, width), np.nan), np.zeros((depth, width), dtype=bool)
    for row, layer in enumerate(found.layers):
        values[row, : layer.channels] = layer.smoothness
        dead[row, list(layer.dead)] = True
    canvas = Figure(figsize=(11, 2.6 + 0.2 * max(8, depth)), layout="constrained")
    axes = canvas.subplots()
    draw_heat(axes, values, dead, scale)
    axes.set(xlabel="feature dimension", ylabel="layer", title=_title(found))
    axes.set_yticks([number - 1 for number in _ticks(depth)], map(str, _ticks(depth)))
    bar = canvas.colorbar(ScalarMappable(scale, SHADES), ax=axes, pad=0.015)
    bar.set_label("normalized smoothness s")
    if dead.any():
        patch = apart_patch("dead: zero at every node")
        canvas.legend(handles=[patch], loc="outside lower center")
    return canvas


def draw_curves(data: Curves) -> Figure:
    """Smoothness and what it can reach, rank, distance and contrast, norm and gradient."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    columns = data.columns()

    def of(name: str) -> Any:
        return np.array(columns[name], dtype=float)  # None becomes NaN, which is not drawn

    layer, states = of("layer"), data.found.states
    canvas = Figure(figsize=(11, 9), layout="constrained")
    grid = canvas.subplots(2, 2, sharex=True)
    (smooth, rank), (share, scale) = grid
    for axes in (rank, share, scale):
        axes.set_yscale("log")
    low, high = of("smoothness_quarter"), of("smoothness_three_quarters")
    smooth.fill_between(layer, low, high, color=BLUE, alpha=0.25, linewidth=0)
    _line(smooth, layer, of("smoothness"), BLUE, "median s, quartiles")
    _line(smooth, layer, of("reach_lower"), ORANGE, "least that control reaches", "--")
    smooth.set(ylim=(-0.03, 1.03), title="normalized smoothness")
    _line(rank, layer, of("channels") - of("dead"), BLACK, "live")
    _line(rank, layer, of("effective_rank"), BLUE, "rank")
    _line(rank, layer, of("contrast_rank"), ORANGE, "of what tells nodes apart", "--")
    rank.set(ylim=(0.9, 1.1 * max(of("channels"))), title="dimensions and effective rank")
    _line(share, layer, of("relative_distance"), BLUE, "outside the eigenspace")
    _line(share, layer, of("contrast"), ORANGE, "tells nodes apart", "--")
    share.set(title="shares of the norm", xlabel="layer")
    share.set_ylim(top=1.1)
    _line(scale, layer, of("norm"), BLUE, "features")
    _line(scale, layer, of("gradient_norm"), RED, "gradient", "--")
    scale.set(title="norms", xlabel="layer", xticks=_ticks(len(layer)))
    for axes in grid.flat:
        for number in layer[np.array(states) != "healthy"]:
            axes.axvspan(number - 0.5, number + 0.5, color=RED, alpha=0.07, linewidth=0)
        below = -0.04 if axes in grid[0] else -0.17
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, below), ncols=3, fontsize=11)
    for axes in (rank, share):
        few = np.log10(np.divide(*axes.get_ylim()[::-1])) < 2.5
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    bad = "; red: not healthy" if set(states) != {"healthy"} else ""
    canvas.suptitle(f"{_title(data.found)}{bad}")
    return canvas


def _line(axes: Axes, x: Any, y: Any, colour: str, label: str, style: str = "-") -> None:
    if axes.get_yscale() == "log":
        y = np.where(y > 0, y, np.nan)
    axes.plot(x, y, style, color=colour, label=label, marker="o", markersize=4)


def _ticks(depth: int) -> list[int]:
    step = max(1, depth // 8)
    return [1, *range(2 * step if step == 1 else step, depth + 1, step)]


def _title(found: Diagnosis) -> str:
    return f"{found.model} on {found.data}, {len(found.layers)} layers"
