"""Heat maps in which cells without a meaningful value, such as dead dimensions, are hatched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphsct.plotting import interactive
from graphsct.plotting.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

__all__ = ["DEAD", "HeatMap", "add_colour_bar", "draw_grid", "hatched_patch"]

#: What hatched cells mean in a map of feature dimensions.
DEAD = "dead: zero at every node"

_SHADES = "viridis"  # perceptually uniform, also for colour-blind readers and in grey
_HATCHED: dict[str, Any] = dict(facecolor="white", edgecolor=GREY, hatch="////", linewidth=0)


@dataclass(frozen=True)
class HeatMap:
    """Values by row and column, some of them without a meaning.

    Args:
        values: NaN where there is no cell; shape: ``(rows, columns)``
        hatched: marks cells without a meaningful value; shape: ``(rows, columns)``
    """

    values: npt.NDArray[np.float64]
    hatched: npt.NDArray[np.bool_]

    @classmethod
    def from_rows(
        cls, values: Sequence[Sequence[float]], hatched: Sequence[Collection[int]]
    ) -> HeatMap:
        """Build a map from rows that may differ in length, and the hatched columns of each.

        Example:
            >>> HeatMap.from_rows([[0.5, 1.0], [0.25]], [[1], []]).values.tolist()
            [[0.5, 1.0], [0.25, nan]]
        """
        shape = len(values), max(map(len, values))
        heat = cls(np.full(shape, np.nan), np.zeros(shape, dtype=bool))
        for row, (own, places) in enumerate(zip(values, hatched, strict=True)):
            heat.values[row, : len(own)] = own
            heat.hatched[row, list(places)] = True
        return heat

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield the row, the start and the stop of every run of hatched cells.

        Example:
            >>> list(HeatMap.from_rows([[1.0] * 4], [[0, 2, 3]]).spans())
            [(0, 0, 1), (0, 2, 4)]
        """
        for row, marks in enumerate(self.hatched):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], marks, [0]]).astype(int)))
            for start, stop in edges.reshape(-1, 2).tolist():
                yield row, start, stop

    def draw(self, axes: Axes, scale: Normalize) -> None:
        """Draw the map in Matplotlib, row 0 at the bottom, cell ``(i, j)`` around ``(j, i)``."""
        axes.imshow(
            np.ma.masked_where(self.hatched, self.values),
            norm=scale,
            cmap=_SHADES,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
        )
        for row, start, stop in self.spans():
            axes.broken_barh([(start - 0.5, stop - start)], (row - 0.5, 1), **_HATCHED)

    def traces(
        self,
        names: Sequence[str],
        label: str,
        hover: str,
        *,
        limits: tuple[float, float],
        bar: interactive.Figure,
        shades: str = _SHADES,
        text: Callable[[float], str] | None = None,
    ) -> list[interactive.Figure]:
        """Return the map as Plotly traces, rows along x from 1 on, columns along y from 0 on.

        Args:
            names: names of the rows
            label: the meaning of the hatched cells
            hover: Plotly's template for a value, ``%{z}`` or ``%{text}``
            limits: the values at the ends of the colour scale
            bar: Plotly's settings of the colour bar
            shades: name of the colour scale
            text: formats a value for ``%{text}``
        """
        rows = [interactive.literal(name) for name in names]
        shown = np.where(self.hatched, np.nan, self.values).T
        cells = [[None if np.isnan(v) else v for v in row] for row in shown.tolist()]
        heat: interactive.Figure = {
            "type": "heatmap",
            "x": list(range(1, len(rows) + 1)),
            "y": list(range(len(cells))),
            "z": cells,
            "customdata": [rows] * len(cells),
            "hoverongaps": False,
            "hovertemplate": f"layer %{{x}} (%{{customdata}}), dimension %{{y}}<br>{hover}"
            "<extra></extra>",
            "colorscale": shades.capitalize(),
            "zmin": limits[0],
            "zmax": limits[1],
            "colorbar": {"thickness": 12, "outlinewidth": 0, "ticks": "outside", "ticklen": 3}
            | bar,
        }
        if text is not None:
            heat["text"] = [["" if v is None else text(v) for v in row] for row in cells]
        spans = list(self.spans())
        return [heat, _bars(spans, rows, label)] if spans else [heat]


def _bars(
    spans: Sequence[tuple[int, int, int]], names: Sequence[str], label: str
) -> interactive.Figure:
    """Hatched Plotly bars over runs of cells."""
    which = [
        f"dimension {start}" if stop - start == 1 else f"dimensions {start} to {stop - 1}"
        for _, start, stop in spans
    ]
    return {
        "type": "bar",
        "name": label,
        "x": [row + 1 for row, _, _ in spans],
        "base": [start - 0.5 for _, start, _ in spans],
        "y": [stop - start for _, start, stop in spans],
        "width": 1,
        "customdata": [[names[row], said] for (row, _, _), said in zip(spans, which, strict=True)],
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"width": 0},
            "pattern": {
                "shape": "/",
                "fgcolor": interactive.GREY,
                "size": 6,
                "solidity": 0.35,
            },
        },
        "hovertemplate": "layer %{x} (%{customdata[0]}), %{customdata[1]}<br>"
        f"{label}<extra></extra>",
        "showlegend": True,
    }


def draw_grid(
    maps: Sequence[HeatMap],
    titles: Sequence[str],
    scale: Normalize,
    *,
    size: tuple[float, float],
    **bar: Any,
) -> tuple[Figure, npt.NDArray[Any]]:
    """Draw maps in two rows of Matplotlib axes above one colour bar.

    Args:
        maps: those of the first row, then those of the second
        titles: one per map
        scale: from values to colours
        size: width and height in inches
        **bar: options of the colour bar

    Returns:
        The figure and its axes, shape: ``(2, len(maps) // 2)``
    """
    from matplotlib.figure import Figure

    canvas = Figure(figsize=size, layout="constrained")
    grid = canvas.subplots(2, len(maps) // 2, sharex=True, sharey=True)
    for axes, heat, title in zip(grid.flat, maps, titles, strict=True):
        heat.draw(axes, scale)
        axes.set_title(title, pad=8)
    add_colour_bar(canvas, grid, scale, location="bottom", shrink=0.6, aspect=40, **bar)
    return canvas, grid


def add_colour_bar(canvas: Figure, axes: Any, scale: Normalize, **options: Any) -> None:
    """Add the colour bar of maps to a Matplotlib figure."""
    from matplotlib.cm import ScalarMappable

    canvas.colorbar(ScalarMappable(scale, _SHADES), ax=axes, **options)


def hatched_patch(label: str) -> Patch:
    """Return the legend's handle for hatched cells."""
    from matplotlib.patches import Patch

    return Patch(label=label, **{**_HATCHED, "linewidth": 0.8})
