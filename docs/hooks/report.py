"""The report: its summary as a page, and the whole of it, with all tables, in a frame below."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from graphsct.paper.cell import Cell
from graphsct.paper.figures import FIGURES
from graphsct.paper.report.drawings import Drawing
from graphsct.paper.report.page import page
from graphsct.paper.tables import build, experiments

_IMAGES = Path(__file__).parents[1] / "images"
_WHOLE = "whole_report.html"
_FRAME = f"""
## All tables

[On a page of their own]({_WHOLE}), with the settings and the runs of every cell:

<iframe src="{_WHOLE}" title="The report" style="width: 100%; height: 85vh; border: 0"></iframe>
"""


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the whole report."""
    tables = {name: build(name) for name in experiments()}
    drawings = [
        Drawing(number, figure.title, figure.caption, png=picture)
        for number, figure in FIGURES.items()
        if (picture := _IMAGES / f"figure{number}.png").exists()
    ]
    text = page(tables, list(Cell.read_all().values()), drawings)
    files.append(File.generated(config, _WHOLE, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Show it below the summary."""
    return markdown + _FRAME if page.file.src_uri == "report.md" else markdown
