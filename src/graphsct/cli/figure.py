"""``graphsct figure``: one of the paper's figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def figure(
    number: Annotated[int, typer.Argument(help="Its number in the paper.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("results/figures"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn at random.")] = 0,
) -> None:
    """Draw a figure of the paper as PNG and SVG, with its data as CSV.

    Figures 3 and 4 train networks on Citeseer, for about a minute each.
    """
    from graphsct.experiments.figures import write_figure

    for path in write_figure(number, out, seed):
        typer.echo(path)
