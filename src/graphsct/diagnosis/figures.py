"""A diagnosis as figures: smoothness by layer and dimension, and every measure by layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.scalars import dimension_columns, layer_columns
from graphsct.files import write_csv
from graphsct.plotting.curves import draw_line, label_log_axis
from graphsct.plotting.heat_map import DEAD, HeatMap, add_colour_bar, hatched_patch
from graphsct.plotting.saving import save
from graphsct.plotting.style import BLACK, BLUE, ORANGE, RED, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_curves", "draw_heat_map", "smoothness_map", "write_columns", "write_figures"]


def write_figures(found: Diagnosis, folder: Path) -> list[Path]:
    """Write both figures as PNG, SVG and CSV."""
    with styled():
        return [
            *save("smoothness", draw_heat_map(found), dimension_columns(found), folder),
            *save("layers", draw_curves(found), layer_columns(found), folder),
        ]


def write_columns(found: Diagnosis, folder: Path) -> list[Path]:
    """Write the numbers of both figures as CSV, which needs no Matplotlib."""
    files = {"smoothness.csv": dimension_columns(found), "layers.csv": layer_columns(found)}
    for name, columns in files.items():
        write_csv(folder / name, columns)
    return [folder / name for name in files]


def smoothness_map(found: Diagnosis) -> HeatMap:
    """Return normalized smoothness, one row per layer and one column per dimension."""
    layers = found.layers
    return HeatMap.from_rows(
        [layer.smoothness for layer in layers], [layer.dead for layer in layers]
    )


def draw_heat_map(found: Diagnosis) -> Figure:
    """Draw normalized smoothness by layer and dimension; dead dimensions are hatched."""
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    heat, scale, depth = smoothness_map(found), Normalize(0, 1), len(found.layers)
    canvas = Figure(figsize=(11, 2.6 + 0.2 * max(8, depth)), layout="constrained")
    axes = canvas.subplots()
    heat.draw(axes, scale)
    axes.set(xlabel="feature dimension", ylabel="layer", title=_title(found))
    axes.set_yticks([number - 1 for number in _ticks(depth)], map(str, _ticks(depth)))
    add_colour_bar(canvas, axes, scale, pad=0.015, label="normalized smoothness s")
    if heat.hatched.any():
        canvas.legend(handles=[hatched_patch(DEAD)], loc="outside lower center")
    return canvas


def draw_curves(found: Diagnosis) -> Figure:
    """Draw smoothness and its range, rank, distance and contrast, norm and gradient by layer."""
    from matplotlib.figure import Figure

    columns = layer_columns(found)

    def of(name: str) -> Any:
        return np.array(columns[name], dtype=float)  # None becomes NaN, which is not drawn

    layer, states = of("layer"), found.states
    canvas = Figure(figsize=(11, 9), layout="constrained")
    grid = canvas.subplots(2, 2, sharex=True)
    (smooth, rank), (share, scale) = grid
    for axes in (rank, share, scale):
        axes.set_yscale("log")
    low, high = of("smoothness_quarter"), of("smoothness_three_quarters")
    smooth.fill_between(layer, low, high, color=BLUE, alpha=0.25, linewidth=0)
    draw_line(smooth, layer, of("smoothness"), BLUE, "median s, quartiles")
    draw_line(smooth, layer, of("reach_lower"), ORANGE, "least that control reaches", "--")
    smooth.set(ylim=(-0.03, 1.03), title="normalized smoothness")
    draw_line(rank, layer, of("channels") - of("dead"), BLACK, "live")
    draw_line(rank, layer, of("effective_rank"), BLUE, "rank")
    draw_line(rank, layer, of("contrast_rank"), ORANGE, "of the part that tells nodes apart", "--")
    rank.set(ylim=(0.9, 1.1 * max(of("channels"))), title="dimensions and effective rank")
    draw_line(share, layer, of("relative_distance"), BLUE, "outside the eigenspace")
    draw_line(share, layer, of("contrast"), ORANGE, "tells nodes apart", "--")
    share.set(title="shares of the norm", xlabel="layer")
    share.set_ylim(top=1.1)
    draw_line(scale, layer, of("norm"), BLUE, "features")
    draw_line(scale, layer, of("gradient_norm"), RED, "gradient", "--")
    scale.set(title="norms", xlabel="layer", xticks=_ticks(len(layer)))
    for axes in grid.flat:
        for number in layer[np.array(states) != "ok"]:
            axes.axvspan(number - 0.5, number + 0.5, color=RED, alpha=0.07, linewidth=0)
        below = -0.04 if axes in grid[0] else -0.17
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, below), ncols=3, fontsize=11)
    for axes in (rank, share):
        label_log_axis(axes)
    bad = "; red: layers with findings" if set(states) != {"ok"} else ""
    canvas.suptitle(f"{_title(found)}{bad}")
    return canvas


def _ticks(depth: int) -> list[int]:
    step = max(1, depth // 8)
    return [1, *range(2 * step if step == 1 else step, depth + 1, step)]


def _title(found: Diagnosis) -> str:
    return f"{found.model} on {found.data}, {len(found.layers)} layers"
