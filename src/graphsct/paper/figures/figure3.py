"""Figure 3: the smoothness of every feature dimension in every layer of trained deep networks.

A dimension that is zero at every node is smooth by definition only. The paper's figure does not
distinguish such dead dimensions from truly smooth ones. Here they are hatched, and a line beside
each map shows the size of the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphsct import datasets
from graphsct.paper.figures.networks import (
    DATA,
    DEPTH,
    GLOROT,
    IDENTITY,
    PULLED,
    Network,
    in_two_rows,
)
from graphsct.paper.workplace import fit_all
from graphsct.plotting.heat_map import DEAD, HeatMap, draw_grid, hatched_patch
from graphsct.plotting.saving import to_columns
from graphsct.plotting.style import BLACK
from graphsct.smoothness import dead_dimensions, effective_rank, normalized_smoothness
from graphsct.training.progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LayerMap", "SmoothnessMaps", "draw", "smoothness_maps"]

Array = npt.NDArray[np.float64]

_COLUMNS = tuple(("gcn", setting) for setting in (PULLED, GLOROT, IDENTITY))
_SMALLEST = 1e-20  # the smallest norm on the axis


@dataclass(frozen=True)
class LayerMap:
    """The features of one trained network, layer 0 being the output of its input layer.

    Args:
        network: the network
        test_score: at the epoch with the best validation accuracy, like all values here
        smoothness: normalized smoothness; shape: ``(layers + 1, channels)``
        dead: marks dimensions that are zero at every node; shape: ``(layers + 1, channels)``
        norm: norms over all nodes; shape: ``(layers + 1, channels)``
        rank: effective rank; shape: ``(layers + 1,)``
    """

    network: Network
    test_score: float
    smoothness: Array
    dead: npt.NDArray[np.bool_]
    norm: Array
    rank: Array


@dataclass(frozen=True)
class SmoothnessMaps:
    """A map for each network: all settings of GCN, then all of GCN-SCT."""

    maps: tuple[LayerMap, ...]

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per dimension of a layer."""
        rows = [
            {
                **found.network.facts,
                "test_score": found.test_score,
                "layer": layer,
                "dimension": dimension,
                "smoothness": found.smoothness[layer, dimension],
                "dead": int(found.dead[layer, dimension]),
                "norm": found.norm[layer, dimension],
                "effective_rank_of_layer": found.rank[layer],
            }
            for found in self.maps
            for layer, dimension in np.ndindex(found.smoothness.shape)
        ]
        return to_columns(rows)


def smoothness_maps(
    seed: int = 0, data: Any = None, *, depth: int = DEPTH, epochs: int = 1500
) -> SmoothnessMaps:
    """Train all networks until validation accuracy has not risen for 100 epochs; measure features.

    Args:
        seed: seed of all networks
        data: defaults to Citeseer
        depth: number of convolutions
        epochs: maximum number of epochs of a run
    """
    data = datasets.load(DATA) if data is None else data
    networks = in_two_rows(_COLUMNS, depth)
    models = [network.build(data, seed) for network in networks]
    configs = [network.config(seed, select="val_score", epochs=epochs) for network in networks]
    with Progress(len(models), epochs, "network") as progress:
        found = fit_all(models, data, configs, progress=progress)
    return SmoothnessMaps(
        tuple(
            _look_into(network, model, data, run.test_score)
            for network, model, run in zip(networks, models, found, strict=True)
        )
    )


@torch.no_grad()
def _look_into(network: Network, model: Any, data: Any, test_score: float) -> LayerMap:
    _, layers = model.eval()(data.x, data.graph, return_layers=True)
    return LayerMap(
        network,
        test_score,
        smoothness=torch.stack([normalized_smoothness(h, data.graph) for h in layers])
        .double()
        .numpy(),
        dead=torch.stack([dead_dimensions(h) for h in layers]).numpy(),
        norm=torch.stack([h.double().norm(dim=0) for h in layers]).numpy(),
        rank=torch.stack([effective_rank(h) for h in layers]).double().numpy(),
    )


def draw(data: SmoothnessMaps) -> Figure:
    """Draw GCN above and GCN-SCT below, one column per setting."""
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    canvas, grid = draw_grid(
        [HeatMap(found.smoothness, found.dead) for found in data.maps],
        [f"{found.network.heading}: test {100 * found.test_score:.1f} %" for found in data.maps],
        Normalize(0, 1),
        size=(11, 11),
        ticks=[0, 0.2, 0.4, 0.6, 0.8, 1],
        label="normalized smoothness  $s$",
    )
    largest = 10 * max(found.norm.max() for found in data.maps)
    for axes, found in zip(grid.flat, data.maps, strict=True):
        _draw_sizes(axes, found, largest)
        axes.set(xlabel="dimension", xticks=range(0, found.dead.shape[1] - 1, 5))
    for axes in grid[:, 0]:
        axes.set_ylabel("layer")
    canvas.legend(
        handles=[
            hatched_patch(f"{DEAD},\n$s = 1$ by definition only"),
            Line2D([], [], color=BLACK, label="norm of the layer's features,\nright of each map"),
        ],
        loc="outside lower center",
        ncols=2,
    )
    return canvas


def _draw_sizes(beside: Axes, found: LayerMap, largest: float) -> None:
    """Draw the norm of each layer to the right of its row; zero lies beyond the left edge."""
    axes = beside.inset_axes((1.04, 0, 0.26, 1), sharey=beside)
    norm = np.sqrt((found.norm**2).sum(axis=1))
    axes.plot(norm, range(len(norm)), color=BLACK, linewidth=2)
    axes.set(xscale="log", xlim=(_SMALLEST, largest), xlabel="norm")
    axes.set_xticks([1e-15, 1], ["$10^{-15}$", "1"], fontsize=11)
    axes.minorticks_off()
    axes.tick_params(labelleft=False, left=False)
