"""The style of all Matplotlib figures: large type, and a palette for colour-blind readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphsct.extras import require

__all__ = ["BLACK", "BLUE", "GREY", "ORANGE", "RED", "styled"]

# From Okabe and Ito's palette, except the grey and the paper's red.
BLACK, BLUE, ORANGE = "#000000", "#0072B2", "#D55E00"
GREY, RED = "#6E6E6E", "#C8102E"

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.labelsize": 14,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.linewidth": 1.0,
    "legend.frameon": False,
    "legend.fontsize": 12.5,
    "lines.linewidth": 2.5,
    "mathtext.fontset": "dejavusans",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "graphsct",
}


@contextmanager
def styled() -> Iterator[None]:
    """A context for drawing and saving; raises an error if Matplotlib is not installed."""
    require("matplotlib", "plot")
    from matplotlib import style

    with style.context(["default", _SETTINGS]):  # whatever the user's own settings are
        yield
