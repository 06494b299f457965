"""Curves in Matplotlib: lines with markers, and logarithmic axes with plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_line", "label_log_axis"]


def draw_line(axes: Axes, x: Any, y: Any, colour: str, label: str, style: str = "-") -> None:
    """Draw a line with markers; on a logarithmic axis, zeros are gaps."""
    if axes.get_yscale() == "log":
        y = np.where(y > 0, y, np.nan)
    axes.plot(x, y, style, color=colour, label=label, marker="o", markersize=4)


def label_log_axis(axes: Axes, digits: Sequence[float] | None = None) -> None:
    """Label a logarithmic y axis with plain numbers.

    Args:
        axes: axes with a logarithmic y axis
        digits: the ticks of each power of ten; defaults to 1, 2 and 5 on a short axis, to 1 alone
            on a long one
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    if digits is None:
        low, high = axes.get_ylim()
        digits = (1, 2, 5) if np.log10(high / low) < 2.5 else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=digits))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
