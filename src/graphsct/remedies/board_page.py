"""The leaderboard as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphsct import __version__
from graphsct.files import write_text
from graphsct.pages import render
from graphsct.plotting.interactive import GREY, Drawn, Figure, curve, layout, share_scales
from graphsct.remedies import FAMILIES, REMEDIES
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.budget import DECAYS, DROPOUTS, HIDDEN, LEARNING_RATES, PATIENCE
from graphsct.remedies.standings import best_table, boards, cost_table, score_table
from graphsct.training.significance import interval

__all__ = ["depth_plots", "page", "write_leaderboard"]

# Of Okabe and Ito's palette, those that stand out on white and on black; marks say the same.
_COLOURS = ("#DD6510", "#3B8FD4", "#009E73", "#CC79A7", "#B8960C")
_MARKS = ("circle", "square", "diamond", "cross", "triangle-up")


def write_leaderboard(folder: Path, out: Path) -> Path:
    """Write the page of all cells in a folder.

    Args:
        folder: folder of the cells
        out: the page
    """
    write_text(out, page(BoardCell.read_all(folder)))
    return out


def page(cells: Sequence[BoardCell]) -> str:
    """The page of some cells."""
    return render(
        "leaderboard.html",
        title="Remedies against over-smoothing",
        plots=True,
        version=__version__,
        budget={
            "hidden": HIDDEN,
            "rates": LEARNING_RATES,
            "dropouts": DROPOUTS,
            "decays": DECAYS,
            "patience": PATIENCE,
        },
        epochs=sorted({cell.epochs for cell in cells}),
        seeds=sorted({cell.seeds for cell in cells}),
        best=best_table(cells),
        boards=[
            {
                "title": f"{data}, {model}",
                "plots": depth_plots(own),
                "scores": [score_table(own, select) for select in ("val_score", "val_loss")],
                "cost": cost_table(own),
            }
            for (data, model), own in boards(cells).items()
        ],
        cells=[_describe(cell) for cell in cells],
    )


def _describe(cell: BoardCell) -> dict[str, Any]:
    data, model, depth, remedy = cell.key
    return {
        "name": cell.key.name,
        "title": f"{data}, {model}, {depth} layers, {REMEDIES[remedy].title}",
        "command": cell.command,
        "failure": cell.failure,
        "json": cell.to_json(indent=1),
    }


def depth_plots(cells: Sequence[BoardCell]) -> list[Drawn]:
    """Test scores by depth with the model as it is, one figure per family of remedies.

    Args:
        cells: cells with one data set and model
    """
    by_remedy = {name: [cell for cell in cells if cell.key.remedy == name] for name in REMEDIES}
    found = []
    for family, changes in FAMILIES.items():
        names = [name for name, own in by_remedy.items() if own and _of(name, family)]
        if names:
            figure = _figure({name: by_remedy[name] for name in ["none", *names]})
            label = f"Test score by depth of remedies that change {changes}; numbers in the table"
            found.append(Drawn(f"Remedies that change {changes}", figure, label))
    share_scales([drawn.figure for drawn in found])
    return found


def _of(name: str, family: str) -> bool:
    return REMEDIES[name].family == family and name != "none"


def _figure(lines: dict[str, list[BoardCell]]) -> Figure:
    traces: list[Figure] = []
    first = next(cell for own in lines.values() for cell in own)
    for number, (name, cells) in enumerate(lines.items()):
        colour = GREY if name == "none" else _COLOURS[number % len(_COLOURS)]
        mark = _MARKS[number // len(_COLOURS) % len(_MARKS)]
        done = sorted((cell for cell in cells if cell.runs), key=lambda cell: cell.key.depth)
        if done:
            traces += [_band(done, colour), _curve(done, REMEDIES[name].title, colour, mark)]
    depths = sorted({cell.key.depth for own in lines.values() for cell in own})
    order = {"categoryorder": "array", "categoryarray": [str(depth) for depth in depths]}
    axes: Figure = {
        "xaxis": {"type": "category", **order, "title": {"text": "layers"}},
        "yaxis": {"title": {"text": f"test {first.measure.heading}"}},
    }
    return {"data": traces, "layout": layout(300 + 22 * len(lines), **axes)}


def _curve(cells: Sequence[BoardCell], title: str, colour: str, mark: str) -> Figure:
    depths = [str(cell.key.depth) for cell in cells]
    means = [sum(cell.scores()) / len(cell.scores()) for cell in cells]
    return curve(depths, means, title, colour, mark=mark, hover="%{y:.1f}")


def _band(cells: Sequence[BoardCell], colour: str) -> Figure:
    """The 95% intervals of the means as an area; a single run has none."""
    ends = [(str(cell.key.depth), interval(cell.scores())) for cell in cells]
    known = [(depth, *found) for depth, found in ends if found is not None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [depth for depth, *_ in (*known, *reversed(known))],
        "y": [high for _, _, high in known] + [low for _, low, _ in reversed(known)],
        "fill": "toself",
        "fillcolor": f"{colour}2E",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
