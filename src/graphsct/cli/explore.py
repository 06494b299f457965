"""``graphsct explore``: an interactive page about smoothness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsct.cli import options
from graphsct.cli.output import print_files

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_EXAMPLES = options.examples(
    ("Write the page and open it", "graphsct explore --open"),
    ("Write it elsewhere", "graphsct explore --out pages/smoothness.html"),
)


@app.command(epilog=_EXAMPLES)
def explore(
    out: Annotated[Path, typer.Option(help="File for the page.")] = Path("explore.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Write an interactive page on which you drag the features of a small graph, shift them inside
    the eigenspace, and watch what an activation does to their smoothness. It needs no network.
    """
    import webbrowser

    from graphsct.errors import ExperimentError
    from graphsct.files import write_text
    from graphsct.paper.explore import SMALL_GRAPHS, page

    write_text(out, page(SMALL_GRAPHS))
    print_files([out], as_json)
    if show and not webbrowser.open(out.absolute().as_uri()):
        raise ExperimentError(f"no browser could be started; open {out} by hand")
