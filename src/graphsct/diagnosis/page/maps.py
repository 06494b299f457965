"""Heat maps of a diagnosis: a column a layer, a row a dimension, the dead ones hatched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.measure import LayerReport
from graphsct.pages.figures import GREY, Drawn, Figure, layout, literal
from graphsct.paper.figures.heat import runs

__all__ = ["heat_maps", "layer_axis"]

_BAR = {"thickness": 12, "outlinewidth": 0, "ticks": "outside", "ticklen": 3}


def heat_maps(found: Diagnosis) -> list[Drawn]:
    """Normalized smoothness and size of every dimension of every layer."""
    dead = sum(len(layer.dead) for layer in found.layers)
    of_all = f"{dead:,} of {sum(layer.channels for layer in found.layers):,} are dead"
    return [
        Drawn(
            "Normalized smoothness s",
            _smoothness(found),
            f"Normalized smoothness by layer and dimension, {of_all}; its quartiles are in the "
            "table of layers",
            "At s = 1 a dimension tells no two nodes of a component apart, beyond their degrees. "
            "Dead dimensions have s = 1 by definition only, and are hatched.",
        ),
        Drawn(
            "Size",
            _sizes(found),
            f"Size by layer and dimension, {of_all}; that of whole layers is in the table of "
            "layers",
            "Root of the mean square over all nodes, on a logarithmic scale. What gets darker from "
            "layer to layer fades away.",
        ),
    ]


def layer_axis(found: Diagnosis) -> Figure:
    """The axis that all figures of the layers share."""
    depth = len(found.layers)
    return {
        "title": {"text": "layer"},
        "range": [0.5, depth + 0.5],
        "dtick": max(1, math.ceil(depth / 8)),
        "tick0": 0,
        "showgrid": False,
        "zeroline": False,
    }


def _smoothness(found: Diagnosis) -> Figure:
    cells = _cells(found, lambda layer: layer.smoothness)
    shades = {
        **_heat(found, cells, "s = %{z:.4f}"),
        "colorscale": "Viridis",
        "zmin": 0,
        "zmax": 1,
        "colorbar": {**_BAR, "title": {"text": "s"}},
    }
    return _figure(found, shades)


def _sizes(found: Diagnosis) -> Figure:
    """On a logarithmic scale, whose bar shows powers of ten."""
    cells = _cells(found, lambda layer: layer.sizes)
    powers = [[math.log10(v) if v else None for v in row] for row in cells]
    known = [power for row in powers for power in row if power is not None] or [0.0]
    low, high = math.floor(min(known)), max(math.ceil(max(known)), math.floor(min(known)) + 1)
    ticks = list(range(low, high + 1, max(1, math.ceil((high - low) / 6))))
    shades = {
        **_heat(found, powers, "size %{text}"),
        "text": [["" if v is None else f"{v:.3g}" for v in row] for row in cells],
        "colorscale": "Cividis",
        "zmin": low,
        "zmax": high,
        "colorbar": {
            **_BAR,
            "tickvals": ticks,
            "ticktext": [f"10<sup>{power}</sup>".replace("-", "−") for power in ticks],
        },
    }
    return _figure(found, shades)


def _cells(
    found: Diagnosis, values: Callable[[LayerReport], Sequence[float]]
) -> list[list[float | None]]:
    """A row a dimension, a column a layer; nothing where it is dead or not there."""
    width = max(layer.channels for layer in found.layers)
    columns = []
    for layer in found.layers:
        dead = set(layer.dead)
        column = [None if i in dead else value for i, value in enumerate(values(layer))]
        columns.append([*column, *[None] * (width - len(column))])
    return [list(row) for row in zip(*columns, strict=True)]


def _heat(found: Diagnosis, cells: list[list[float | None]], says: str) -> Figure:
    names = [literal(layer.name) for layer in found.layers]
    return {
        "type": "heatmap",
        "x": list(range(1, len(names) + 1)),
        "y": list(range(len(cells))),
        "z": cells,
        "customdata": [names] * len(cells),
        "hoverongaps": False,
        "hovertemplate": "layer %{x} (%{customdata}), dimension %{y}<br>"
        f"{says}<extra></extra>",
    }


def _dead(found: Diagnosis) -> Figure | None:
    """Bars over the dead dimensions of each layer, as few as there can be."""
    bars = []
    for number, layer in enumerate(found.layers, 1):
        marks = np.zeros(layer.channels, dtype=bool)
        marks[list(layer.dead)] = True
        for start, stop in runs(marks):
            which = (
                f"dimensions {start} to {stop - 1}" if stop - start > 1 else f"dimension {start}"
            )
            bars.append((number, start - 0.5, stop - start, [literal(layer.name), which]))
    if not bars:
        return None
    x, base, height, says = (list(column) for column in zip(*bars, strict=True))
    return {
        "type": "bar",
        "name": "dead: zero at every node",
        "x": x,
        "base": base,
        "y": height,
        "width": 1,
        "customdata": says,
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"width": 0},
            "pattern": {"shape": "/", "fgcolor": GREY, "size": 6, "solidity": 0.35},
        },
        "hovertemplate": "layer %{x} (%{customdata[0]}), %{customdata[1]}<br>dead: zero at every "
        "node<extra></extra>",
        "showlegend": True,
    }


def _figure(found: Diagnosis, shades: Figure) -> Figure:
    width = max(layer.channels for layer in found.layers)
    dead = _dead(found)
    return {
        "data": [shades] if dead is None else [shades, dead],
        "layout": layout(
            360,
            legend=dead is not None,
            hovermode="closest",
            xaxis=layer_axis(found),
            yaxis={
                "title": {"text": "dimension"},
                "range": [-0.5, width - 0.5],
                "showgrid": False,
                "zeroline": False,
            },
        ),
    }
