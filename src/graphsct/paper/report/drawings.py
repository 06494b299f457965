"""The figures of a report: files of ``graphsct figure``, drawn where they do not exist."""

from __future__ import annotations

import base64
import csv
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphsct.errors import DataError
from graphsct.pages.tables import Column, Table
from graphsct.paper.figures import FIGURES, write_figure

__all__ = ["Drawing", "digest_gradients", "digest_smoothness", "find_drawings"]

#: The layer from which the paper finds a deep GCN smooth, and the least median we call smooth.
_FROM_LAYER = 14
_SMOOTH = 0.95
#: The gradient of layer 1 has vanished below this share of the last layer's.
_VANISHED = 1e-3


@dataclass(frozen=True)
class Drawing:
    """A figure on a page.

    Args:
        number: its number in the paper
        title: its subject
        caption: description of the drawing
        svg: file of the drawing as SVG, if there is one
        png: file of the drawing as PNG, if there is one
        digest: a table that summarizes its data
        why: the reason for a missing drawing
    """

    number: int
    title: str
    caption: str
    svg: Path | None = None
    png: Path | None = None
    digest: Table[Any] | None = None
    why: str | None = None

    @property
    def source(self) -> str:
        """The drawing as a data URL."""
        path, kind = (self.svg, "svg+xml") if self.svg is not None else (self.png, "png")
        assert path is not None
        return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def find_drawings(folder: Path) -> Iterator[Drawing]:
    """Yield all figures from a folder, drawing those that do not exist.

    A figure whose data set is missing says so instead.
    """
    for number, figure in FIGURES.items():
        paths = {kind: folder / f"figure{number}.{kind}" for kind in ("png", "svg", "csv")}
        if not all(path.exists() for path in paths.values()):
            try:
                write_figure(number, folder)
            except DataError as error:
                yield Drawing(number, figure.title, figure.caption, why=str(error))
                continue
        digest = _DIGESTS[number](_read(paths["csv"])) if number in _DIGESTS else None
        svg, png = paths["svg"], paths["png"]
        yield Drawing(number, figure.title, figure.caption, svg, png, digest)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class _Digest:
    """A trained network, by its weights' start and the weight decay of its convolutions."""

    network: str
    start: str
    decay: str
    verdict: str


@dataclass(frozen=True)
class _SmoothnessDigest(_Digest):
    """Deep features: test accuracy, dead dimensions in percent, median smoothness of the others."""

    test: float
    dead: float | None
    smoothness: float | None


@dataclass(frozen=True)
class _GradientDigest(_Digest):
    """Norms of the gradient at layer 0, at layer 1 and at the last layer."""

    input: float
    first: float
    last: float


_NETWORK: tuple[Column[Any], ...] = (
    Column("network", "{network:s}", right=False),
    Column("start", "{start:s}", right=False),
    Column("weight decay", "{decay:s}"),
)


def digest_smoothness(cells: list[dict[str, str]]) -> Table[_SmoothnessDigest]:
    """Summarize each network's features from layer 14 on."""
    rows = []
    for network, inside in _networks(cells).items():
        deep = [cell for cell in inside if int(cell["layer"]) >= _FROM_LAYER]
        alive = [float(cell["smoothness"]) for cell in deep if cell["dead"] == "0"]
        middle = statistics.median(alive) if alive else None
        rows.append(
            _SmoothnessDigest(
                *network,
                "smooth" if middle is None or middle >= _SMOOTH else "not smooth",
                test=100 * float(inside[0]["test_score"]),
                dead=100 * (1 - len(alive) / len(deep)) if deep else None,
                smoothness=middle,
            )
        )
    columns: tuple[Column[_SmoothnessDigest], ...] = (
        *_NETWORK,
        Column("test accuracy, %", "{test:.1f}"),
        Column("dead dimensions, %", "{dead:.0f}"),
        Column("median s of the others", ("{smoothness:.3f}", "none is left")),
        Column("verdict", "{verdict:s}", right=False),
    )
    notes = (f"smooth: all dimensions are dead, or the median is at least {_SMOOTH:g}.",)
    return Table(f"From layer {_FROM_LAYER} on", columns, tuple(rows), notes)


def digest_gradients(cells: list[dict[str, str]]) -> Table[_GradientDigest]:
    """Summarize how much of the gradient reaches the first convolution after the last epoch."""
    rows = []
    for network, inside in _networks(cells).items():
        end = max(int(cell["epoch"]) for cell in inside)
        norms = [float(cell["jacobian_norm"]) for cell in inside if int(cell["epoch"]) == end]
        verdict = "vanishes" if norms[1] < _VANISHED * norms[-1] else "does not vanish"
        rows.append(_GradientDigest(*network, verdict, norms[0], norms[1], norms[-1]))
    columns: tuple[Column[_GradientDigest], ...] = (
        *_NETWORK,
        Column("layer 0", "{input:.2g}"),
        Column("layer 1", "{first:.2g}"),
        Column("last layer", "{last:.2g}"),
        Column("verdict", "{verdict:s}", right=False),
    )
    notes = (f"vanishes: the norm at layer 1 is below {_VANISHED:g} of that at the last layer.",)
    return Table("The norm after the last epoch", columns, tuple(rows), notes)


_DIGESTS: dict[int, Callable[[list[dict[str, str]]], Table[Any]]] = {
    3: digest_smoothness,
    4: digest_gradients,
}


def _networks(
    cells: list[dict[str, str]],
) -> dict[tuple[str, str, str], list[dict[str, str]]]:
    """Rows of a figure's data by network, in their order."""
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for cell in cells:
        key = cell["model"], cell["start"], cell["conv_weight_decay"]
        found.setdefault(key, []).append(cell)
    return found
