"""The paper's figures by number, and one of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphsct.errors import ExperimentError
from graphsct.paper.figures import figure1, figure2, figure3, figure4, figure5
from graphsct.plotting.saving import save
from graphsct.plotting.style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["FIGURES", "Figure", "write_figure"]


class FigureData(Protocol):
    """The data of a figure."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return columns of equal length by name, as they go into the CSV file."""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Args:
        title: its subject
        caption: description of the figure
        data: computes the data from a seed
        draw: draws the data
    """

    title: str
    caption: str
    data: Callable[[int], FigureData]
    draw: Callable[[Any], Canvas]


FIGURES = {
    1: Figure(
        "smoothness and normalized smoothness of the output against the shift alpha",
        "Left: distance to the eigenspace. The distance of the input does not change with the "
        "shift; those of ReLU and leaky ReLU stay below it. Right: normalized smoothness. ReLU "
        "falls from 1 to its least value and is 1 again where its output is zero; leaky ReLU falls "
        "to 0.",
        figure1.shift_curves,
        figure1.draw,
    ),
    2: Figure(
        "trajectories of node features for three shifts alpha",
        "The features of two nodes, one each, through ten layers, in three panels. With a negative "
        "shift many trajectories end at zero. Without a shift they reach the eigenspace near their "
        "start. With a positive shift they run along the eigenspace.",
        lambda seed: figure2.trajectories(),  # nothing is random: the starts form a grid
        figure2.draw,
    ),
    3: Figure(
        "normalized smoothness by layer and dimension of trained 32-layer networks",
        "Heat maps of GCN above and GCN-SCT below on Citeseer with 16 channels. Each column is a "
        "setting that the paper leaves open. Hatched dimensions are dead: zero at every node, "
        "smooth by definition only. The line to the right of each map is the norm of the layer's "
        "features. Weight decay applies to the convolutions.",
        figure3.smoothness_maps,
        figure3.draw,
    ),
    4: Figure(
        "norm of the output's gradient by layer over 100 epochs of training",
        "Heat maps of the norm of the derivative of the output by the features of each layer, on "
        "Citeseer with 32 layers of 16 channels: networks without SCT above, with SCT below. "
        "Hatched layers do not affect the output. Weight decay applies to the convolutions.",
        figure4.gradient_maps,
        figure4.draw,
    ),
    5: Figure(
        "test score against the wanted smoothness (ours, not in the paper)",
        "GCN with 64 channels in which all layers, or only the last, have exactly the smoothness "
        "on the axis. Bands and bars are 95 % confidence intervals. Diamonds are plain networks, "
        "stars learn their smoothness; both stand at their mean smoothness after training.",
        lambda seed: figure5.wanted_smoothness(),  # nothing is random: the runs are stored
        figure5.draw,
    ),
}


def write_figure(number: int, folder: Path, seed: int = 0) -> list[Path]:
    """Compute figure ``number`` and write it as PNG, SVG and CSV.

    Returns:
        The three paths, ``folder / "figure<number>.png"`` and so on
    """
    if number not in FIGURES:
        there = "; ".join(f"{n}: {figure.title}" for n, figure in FIGURES.items())
        raise ExperimentError(f"there is no figure {number}; choose from {there}")
    figure = FIGURES[number]
    with styled():
        data = figure.data(seed)
        return save(f"figure{number}", figure.draw(data), data.columns(), folder)
