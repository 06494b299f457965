"""Heat maps in which cells without a meaningful value are drawn apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphsct.paper.figures.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.patches import Patch

__all__ = ["SHADES", "apart_patch", "draw_heat", "runs"]

SHADES = "viridis"  # even steps for all eyes, and in grey
_APART: dict[str, Any] = dict(facecolor="white", edgecolor=GREY, hatch="////", linewidth=0)


def draw_heat(
    axes: Axes,
    values: npt.NDArray[np.float64],
    apart: npt.NDArray[np.bool_],
    scale: Normalize,
) -> None:
    """Colour a cell for each value, and hatch those that stand apart.

    Args:
        axes: row 0 comes at the bottom, cell ``(i, j)`` has its centre at ``x = j``, ``y = i``
        values: shape: ``(rows, columns)``
        apart: shape: ``(rows, columns)``
        scale: from values to the shades
    """
    axes.imshow(
        np.ma.masked_where(apart, values),
        norm=scale,
        cmap=SHADES,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    for row, marks in enumerate(apart):
        spans = [(start - 0.5, stop - start) for start, stop in runs(marks)]
        axes.broken_barh(spans, (row - 0.5, 1), **_APART)


def runs(marks: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where marks follow each other without a gap, as start and stop; shape: ``(k,)``.

    Example:
        >>> runs(np.array([True, False, True, True]))
        [(0, 1), (2, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(int)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def apart_patch(label: str) -> Patch:
    """What stands for the hatched cells in a legend."""
    from matplotlib.patches import Patch

    return Patch(label=label, **{**_APART, "linewidth": 0.8})
