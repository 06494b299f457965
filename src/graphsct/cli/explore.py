"""``graphsct explore``: a page on which one sees smoothness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def explore(
    out: Annotated[Path, typer.Option(help="The page.")] = Path("explore.html"),
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write an interactive page: drag the features of a small graph, shift them inside the
    eigenspace, and watch what an activation does to their smoothness. It needs no network.
    """
    import webbrowser

    from graphsct.errors import ExperimentError
    from graphsct.experiments.explore import SMALL_GRAPHS, page
    from graphsct.files import write_text

    write_text(out, page(SMALL_GRAPHS))
    typer.echo(out)
    if show and not webbrowser.open(out.absolute().as_uri()):
        raise ExperimentError(f"no browser could be started; open {out} yourself")
