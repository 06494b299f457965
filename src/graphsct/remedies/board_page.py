"""The leaderboard as one HTML page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphsct import __version__
from graphsct.files import write_text
from graphsct.pages import render
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.board_figures import depth_plots
from graphsct.remedies.board_findings import board_findings
from graphsct.remedies.budget import DECAYS, DROPOUTS, HIDDEN, LEARNING_RATES, PATIENCE
from graphsct.remedies.published import published_table
from graphsct.remedies.standings import best_table, boards, cost_table, score_table

__all__ = ["TITLE", "page", "rules", "write_leaderboard"]

TITLE = "Remedies against over-smoothing"


def write_leaderboard(cells: Sequence[BoardCell], out: Path) -> Path:
    """Write the page of some cells.

    Args:
        cells: the cells
        out: the page
    """
    write_text(out, page(cells))
    return out


def page(cells: Sequence[BoardCell]) -> str:
    """The page of some cells."""
    return render(
        "leaderboard.html",
        title=TITLE,
        plots=True,
        version=__version__,
        findings=board_findings(cells),
        published=published_table(cells),
        rules=rules(cells),
        best=best_table(cells),
        boards=[
            {
                "title": own[0].key.title,
                "plots": depth_plots(own),
                "scores": [score_table(own, select) for select in ("val_score", "val_loss")],
                "cost": cost_table(own),
            }
            for own in boards(cells).values()
        ],
        cells=[_describe(cell) for cell in cells],
    )


def rules(cells: Sequence[BoardCell]) -> list[str]:
    """The rules by which cells were run, one sentence or two each."""
    rates, dropouts, decays, epochs, seeds = (
        " or ".join(map(str, values))
        for values in (
            LEARNING_RATES,
            DROPOUTS,
            DECAYS,
            sorted({cell.epochs for cell in cells}),
            sorted({cell.seeds for cell in cells}),
        )
    )
    return [
        f"Models have width {HIDDEN}, and features are not scaled. Runs have at most {epochs} "
        f"epochs and end {PATIENCE} epochs after the best one.",
        f"Eight settings are tried, each once: learning rate {rates}, dropout {dropouts}, and the "
        f"two values of the remedy's own number. A remedy without one tries weight decay {decays}; "
        f"all others have {DECAYS[0]}.",
        f"The validation metric chooses the setting, which is then trained with {seeds} seeds. On "
        "data with several splits, each seed has its own.",
        "Each run is tested at two epochs: that of the best validation metric, and that of the "
        "smallest validation loss.",
    ]


def _describe(cell: BoardCell) -> dict[str, Any]:
    key = cell.key
    return {
        "name": key.name,
        "title": f"{key.title}, {key.depth} layers, {REMEDIES[key.remedy].title}",
        "command": cell.command,
        "failure": cell.failure,
        "json": _json(cell),
    }


def _json(cell: BoardCell) -> str:
    """The cell with a line for each of its values, and for each run, setting and layer."""
    lines = []
    for name, value in cell.to_dict().items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"
