"""The leaderboard as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from graphsct.pages.tables import Table
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.board_findings import BoardFinding, board_findings
from graphsct.remedies.board_page import TITLE, rules
from graphsct.remedies.published import published_table
from graphsct.remedies.standings import RemedyRow, best_table, boards, cost_table, score_table

__all__ = ["PICTURE", "markdown"]

#: The picture of the documentation's page, which ``benchmarks/leaderboard.py`` draws.
PICTURE = "images/remedies.png"


def markdown(cells: Sequence[BoardCell], folder: Path | None = None) -> str:
    """Findings, rules, the tables, and how to run a cell again.

    Args:
        cells: the cells
        folder: folder of the page, which shows the picture in it if there is one
    """
    return "\n\n".join(_parts(cells, folder)) + "\n"


def _parts(cells: Sequence[BoardCell], folder: Path | None) -> Iterator[str]:
    yield f"# {TITLE}"
    yield (
        "What people do against over-smoothing, all measured in the same way. There are "
        f"{len(cells)} cells; each is one remedy on one data set at one depth. Scores are test "
        "scores, mean ± standard deviation over the seeds. Everything on this page was computed "
        "from the cells that come with graphsct."
    )
    if folder is not None and (folder / PICTURE).is_file():
        yield f"![Test accuracy of GCN on Cora by depth, with some of the remedies]({PICTURE})"
        yield "*Some of the remedies. Lines are means over the seeds, with their 95 % intervals.*"
    yield "## Findings"
    yield from map(_finding, board_findings(cells))
    yield "## Rules"
    yield "The rules were fixed before the first run, and are the same for every remedy."
    yield _bullets(rules(cells))
    yield best_table(cells).to_markdown()
    others = published_table(cells)
    if others.rows:
        # Markdown has no room for the signs of the HTML page, so it needs no legend either.
        notes = tuple(note for note in others.notes if "▲" not in note)
        yield replace(others, notes=notes).to_markdown()
    for own in boards(cells).values():
        yield f"## Every remedy: {own[0].key.title}"
        scores, costs = score_table(own, "val_score"), cost_table(own)
        left = [row.title for row in scores.rows if not row.cells]
        yield _run_only(scores, left, "; ".join(left)).to_markdown(3)
        yield _run_only(costs, left, "the same as above").to_markdown(3)
    yield "## Run a cell again"
    yield "Each cell is one command, which its entry on the page shows. For example:"
    yield f"```sh\n{cells[0].command}\n```"
    yield "This writes `remedies.html`, with all cells, and scores, ranks and energies by depth:"
    yield "```sh\ngraphsct remedies report\n```"


def _run_only(table: Table[RemedyRow], left: Sequence[str], names: str) -> Table[RemedyRow]:
    """Rows for the remedies that were run at some depth, and a note on those that are left."""
    if not left:
        return table
    note = f"remedies that were not run at any depth ({len(left)}): {names}"
    return replace(table.only(lambda row: row.cells), notes=(*table.notes, note))


def _finding(finding: BoardFinding) -> str:
    return (
        f"**{finding.question} {finding.answer}.** {finding.rule}\n\n{_bullets(finding.lines)}"
    ).rstrip()


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
