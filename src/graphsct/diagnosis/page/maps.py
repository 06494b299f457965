"""Interactive heat maps of a diagnosis: one column per layer, one row per dimension."""

from __future__ import annotations

import math

import numpy as np

from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.figures import smoothness_map
from graphsct.plotting.heat_map import DEAD, HeatMap
from graphsct.plotting.interactive import Drawn, Figure, layout

__all__ = ["heat_maps", "layer_axis"]


def heat_maps(found: Diagnosis) -> list[Drawn]:
    """Return the maps of normalized smoothness and of size."""
    dead = sum(len(layer.dead) for layer in found.layers)
    of_all = f"{dead:,} of {sum(layer.channels for layer in found.layers):,} are dead"
    return [
        Drawn(
            "Normalized smoothness s",
            _smoothness(found),
            f"Normalized smoothness by layer and dimension, {of_all}; its quartiles are in the "
            "table of layers",
            "At s = 1 a dimension tells the nodes of a component apart only by their degrees. "
            "Dead dimensions are hatched; they have s = 1 by definition only.",
        ),
        Drawn(
            "Size",
            _sizes(found),
            f"Size by layer and dimension, {of_all}; the norms of whole layers are in the table "
            "of layers",
            "Root of the mean square over all nodes, on a logarithmic scale. Dimensions that get "
            "darker from layer to layer fade away.",
        ),
    ]


def layer_axis(found: Diagnosis) -> Figure:
    """Return the x axis of all figures by layer."""
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
    names = [layer.name for layer in found.layers]
    bar = {"title": {"text": "s"}}
    heat = smoothness_map(found)
    return _figure(found, heat.traces(names, DEAD, "s = %{z:.4f}", limits=(0, 1), bar=bar))


def _sizes(found: Diagnosis) -> Figure:
    """The map of sizes on a logarithmic scale, whose bar shows powers of ten."""
    heat = HeatMap.from_rows(
        [
            [math.log10(size) if size else math.nan for size in layer.sizes]
            for layer in found.layers
        ],
        [layer.dead for layer in found.layers],
    )
    known = heat.values[~heat.hatched & ~np.isnan(heat.values)]
    low, high = (math.floor(known.min()), math.ceil(known.max())) if known.size else (0, 0)
    high = max(high, low + 1)
    ticks = list(range(low, high + 1, max(1, math.ceil((high - low) / 6))))
    traces = heat.traces(
        [layer.name for layer in found.layers],
        DEAD,
        "size %{text}",
        limits=(low, high),
        bar={
            "tickvals": ticks,
            "ticktext": [f"10<sup>{power}</sup>".replace("-", "−") for power in ticks],
        },
        shades="cividis",
        text=lambda power: f"{10**power:.3g}",
    )
    return _figure(found, traces)


def _figure(found: Diagnosis, traces: list[Figure]) -> Figure:
    width = max(layer.channels for layer in found.layers)
    return {
        "data": traces,
        "layout": layout(
            360,
            legend=len(traces) > 1,
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
