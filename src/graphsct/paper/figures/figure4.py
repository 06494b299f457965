r"""Figure 4: how much the output of deep networks depends on each layer, over 100 epochs.

The norm is that of the Jacobian, :math:`\|\partial \mathbf H^{out} / \partial \mathbf H^l\|_F`, of
the scores of all nodes with respect to the features of all nodes, without dropout. As :math:`\|
\mathbf J\|_F^2 = \mathbb E \|\mathbf J^\top \mathbf v\|^2` for random signs :math:`\mathbf v`
(Hutchinson), one backward pass estimates it; the norms in the figure differ by powers of ten.
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
    IDENTITY,
    PULLED,
    Network,
    Setting,
    in_two_rows,
)
from graphsct.plotting.heat_map import HeatMap, draw_grid, hatched_patch
from graphsct.plotting.saving import to_columns
from graphsct.training.autograd import Autograd
from graphsct.training.data import SplitData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["GradientMap", "GradientMaps", "draw", "gradient_maps", "jacobian_norms"]

Array = npt.NDArray[np.float64]

_OWN = Setting("published start,\nno weight decay")
_COLUMNS = (("gcn", PULLED), ("gcn", IDENTITY), ("gcnii", _OWN), ("egnn", _OWN))
_RANGE = (1e-8, 1e4)


@dataclass(frozen=True)
class GradientMap:
    """One network; shape of ``norms``: ``(epochs + 1, layers + 1)``, row 0 before training."""

    network: Network
    norms: Array


@dataclass(frozen=True)
class GradientMaps:
    """A map for each network: all without control, then all with it."""

    maps: tuple[GradientMap, ...]

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per layer and epoch."""
        rows = [
            {
                **found.network.facts,
                "epoch": epoch,
                "layer": layer,
                "jacobian_norm": found.norms[epoch, layer],
            }
            for found in self.maps
            for epoch, layer in np.ndindex(found.norms.shape)
        ]
        return to_columns(rows)


def gradient_maps(
    seed: int = 0, data: Any = None, *, depth: int = DEPTH, epochs: int = 100
) -> GradientMaps:
    """Train all networks and measure before the first epoch and after each.

    Args:
        seed: seed of all networks
        data: defaults to Citeseer
        depth: number of convolutions
        epochs: number of epochs
    """
    from rich.console import Console
    from rich.progress import track

    data = datasets.load(DATA) if data is None else data
    networks = in_two_rows(_COLUMNS, depth)
    console = Console(stderr=True)
    steps = track(
        networks, "network", console=console, transient=True, disable=not console.is_terminal
    )
    return GradientMaps(tuple(_train(network, data, seed, epochs) for network in steps))


def _train(network: Network, data: Any, seed: int, epochs: int) -> GradientMap:
    problem = SplitData.of(data)
    model = network.build(data, seed)
    backend = Autograd([model], [problem], [network.config(seed)])
    signs = torch.Generator().manual_seed(seed)
    norms = [jacobian_norms(model, problem, signs)]
    for _ in range(epochs):
        backend.descend()
        norms.append(jacobian_norms(model, problem, signs))
    return GradientMap(network, np.array(norms))


def jacobian_norms(model: Any, problem: SplitData, generator: torch.Generator) -> list[float]:
    """Estimate the norm of the derivative of the scores by the features of each layer.

    Args:
        model: a model of :mod:`graphsct.nn`
        problem: the features and the graph
        generator: source of the random signs

    Returns:
        ``num_layers + 1`` norms
    """
    scores, layers = model.eval()(problem.x, *problem.edges, return_layers=True)
    signs = torch.randint(0, 2, scores.shape, generator=generator).to(scores) * 2 - 1
    gradients = torch.autograd.grad(scores, layers, signs)
    return [gradient.double().norm().item() for gradient in gradients]


def draw(data: GradientMaps) -> Figure:
    """Draw networks without control above and with control below, one column per model."""
    from matplotlib.colors import LogNorm

    canvas, grid = draw_grid(
        [HeatMap(found.norms.T.clip(_RANGE[0]), found.norms.T == 0) for found in data.maps],
        [found.network.heading for found in data.maps],
        LogNorm(*_RANGE),
        size=(12, 9),
        extend="both",
        label=r"$\Vert\partial H^{\mathrm{out}} / \partial H^l\Vert$",
    )
    for axes in grid[1]:
        axes.set_xlabel("epoch")
    for axes in grid[:, 0]:
        axes.set_ylabel("layer  $l$")
    canvas.legend(
        handles=[hatched_patch("exactly zero: the layer does not affect the output")],
        loc="outside lower center",
    )
    return canvas
