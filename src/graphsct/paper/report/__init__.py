"""The report: the paper and our runs as one HTML page and as Markdown."""

from __future__ import annotations

import os
from pathlib import Path

from graphsct.files import make_folder, make_place, write_text
from graphsct.paper.cell import Cell
from graphsct.paper.report.drawings import find_drawings
from graphsct.paper.report.markdown import write_markdown
from graphsct.paper.report.page import page
from graphsct.paper.tables import build, experiments

__all__ = ["write_report"]


def write_report(
    out: Path,
    *,
    cells: Path | None = None,
    figures: Path,
    markdown: Path | None = None,
    root: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write the report.

    Args:
        out: the HTML page
        cells: folder of our cells; by default the stored results
        figures: folder of ``graphsct figure``; missing figures are drawn
        markdown: summary and figures as Markdown, with the images in a folder ``images`` beside it
        root: folder with the raw files of data sets, which the table of statistics counts

    Returns:
        The files that were written
    """
    make_folder(figures)
    for path in filter(None, (out, markdown)):
        make_place(path)
    tables = {name: build(name, cells=cells, root=root) for name in experiments()}
    drawings = list(find_drawings(figures))
    write_text(out, page(tables, list(Cell.read_all(cells).values()), drawings))
    written = [out]
    if markdown is not None:
        written += write_markdown(markdown, tables, drawings)
    return written
