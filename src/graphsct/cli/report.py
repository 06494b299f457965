"""``graphsct report``: the paper and our runs on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsct.cli import options
from graphsct.cli.output import print_files

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_EXAMPLES = options.examples(
    ("The stored results", "graphsct report"),
    ("Your own", "graphsct report --cells results/reproduce --out mine.html"),
    ("Also as Markdown", "graphsct report --markdown docs/results.md"),
)


@app.command(epilog=_EXAMPLES)
def report(
    out: Annotated[Path, typer.Option(help="File for the page.")] = Path("report.html"),
    cells: Annotated[
        Path | None,
        typer.Option(
            help="Folder of cells that 'graphsct reproduce' wrote.",
            show_default="the stored results",
        ),
    ] = None,
    figures: Annotated[
        Path, typer.Option(help="Folder of the figures. Missing ones are drawn.")
    ] = Path("results/figures"),
    markdown: Annotated[
        Path | None,
        typer.Option(help="Also write the report as Markdown, with its images in the same folder."),
    ] = None,
    root: Annotated[Path | None, options.root()] = None,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Write every table and figure of the paper beside ours as one HTML page that needs no
    network: which claims hold, which do not, by how much, and every setting behind them.

    Drawing figures 3 and 4 for the first time takes about a minute each.
    """
    from graphsct.errors import ExperimentError
    from graphsct.paper.report import write_report

    if cells is not None and not cells.is_dir():
        raise ExperimentError(f"there is no folder {cells}; 'graphsct reproduce' writes cells")
    paths = write_report(out, cells=cells, figures=figures, markdown=markdown, root=root)
    print_files(paths, as_json)
