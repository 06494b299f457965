"""``graphsct figure``: one of the paper's figures, or ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsct.cli import options
from graphsct.cli.output import print_files

__all__ = ["NUMBERS", "app"]

app = typer.Typer(add_completion=False)

#: Numbers that a shell completes; looking the figures up would import PyTorch.
NUMBERS = ("1", "2", "3", "4", "5")

_EXAMPLES = options.examples(
    ("Figure 1 into results/figures", "graphsct figure 1"),
    ("Other random features, another folder", "graphsct figure 1 --seed 7 --out pictures"),
)


@app.command(epilog=_EXAMPLES)
def figure(
    number: Annotated[
        int,
        typer.Argument(
            help="Number of the figure: 1 to 4 as in the paper; 5 is ours.",
            autocompletion=options.among(NUMBERS),
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("results/figures"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of random features and networks.")] = 0,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Draw a figure of the paper as PNG and SVG, with its data as CSV.

    Figures 3 and 4 train networks on Citeseer, for about a minute each. Figure 5 is not in the
    paper: it shows which smoothness is best, from stored runs.
    """
    from graphsct.paper.figures import write_figure

    print_files(write_figure(number, out, seed), as_json, figure=number)
