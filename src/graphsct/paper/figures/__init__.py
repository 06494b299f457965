"""The paper's figures by number: their data, and the files that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphsct.errors import ExperimentError
from graphsct.files import replacing, write_csv
from graphsct.paper.figures import curves, gradients, smoothness_maps, trajectory
from graphsct.paper.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["FIGURES", "Figure", "save", "write_figure"]

_DPI = 200


class Plottable(Protocol):
    """The data of a figure, which can be laid out as a table."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Columns of equal length by name, as they go into the CSV file."""


@dataclass(frozen=True)
class Figure:
    """One figure: what it shows, what there is to see, the data from a seed, and their drawing."""

    title: str
    caption: str
    data: Callable[[int], Plottable]
    draw: Callable[[Any], Canvas]


FIGURES = {
    1: Figure(
        "smoothness and normalized smoothness of the output against the shift alpha",
        "Left, the distance to the eigenspace: that of the input does not change with the shift, "
        "and those of ReLU and leaky ReLU stay below it. Right, normalized smoothness: ReLU goes "
        "from 1 down to its least value, and is 1 again where it dies; leaky ReLU goes down to 0.",
        curves.shift_curves,
        curves.draw,
    ),
    2: Figure(
        "trajectories of node features for three shifts alpha",
        "Two nodes with one feature each, through ten layers, in three panels. With a negative "
        "shift many trajectories end at zero, without a shift they reach the eigenspace near their "
        "start, with a positive one they run along it.",
        lambda seed: trajectory.trajectories(),  # its starts are a grid
        trajectory.draw,
    ),
    3: Figure(
        "normalized smoothness by layer and dimension of trained 32-layer networks",
        "Heat maps of GCN above and GCN-SCT below on Citeseer, 16 channels, one column a setting "
        "that the paper leaves open. Hatched dimensions are dead: zero at every node, smooth by "
        "definition only. The line to the right of each map is the norm of the layer's features. "
        "Weight decay is that of convolutions.",
        smoothness_maps.smoothness_maps,
        smoothness_maps.draw,
    ),
    4: Figure(
        "norm of the output's gradient by layer over 100 epochs of training",
        "Heat maps of the norm of the derivative of the output by the features of each layer, "
        "networks without SCT above and with it below, on Citeseer with 32 layers of 16 channels. "
        "Hatched layers have no say in the output at all. Weight decay is that of convolutions.",
        gradients.gradient_maps,
        gradients.draw,
    ),
}


def write_figure(number: int, folder: Path, seed: int = 0) -> list[Path]:
    """Compute figure ``number`` and write it as PNG, SVG and CSV.

    Returns:
        The three paths, ``folder / "figure<number>.png"`` and so on
    """
    if number not in FIGURES:
        there = "; ".join(f"{n}: {figure.title}" for n, figure in FIGURES.items())
        raise ExperimentError(f"there is no figure {number}; there is {there}")
    figure = FIGURES[number]
    with styled():
        data = figure.data(seed)
        return save(f"figure{number}", figure.draw(data), data, folder)


def save(name: str, canvas: Canvas, data: Plottable, folder: Path) -> list[Path]:
    """Write a drawing as PNG and SVG and its data as CSV; call it inside of ``styled``."""
    paths = [folder / f"{name}.{suffix}" for suffix in ("png", "svg", "csv")]
    for path in paths[:2]:
        # No date and no random ids: the same data give the same file.
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with replacing(path) as temporary:
            canvas.savefig(temporary, dpi=_DPI, metadata=metadata)
    write_csv(paths[2], data.columns())
    return paths
