"""``graphsct demo``: the smoothness report of the built-in graph, and figures 1 and 2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from graphsct.experiments.demo import Control, Report

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("results/demo"),
) -> None:
    """Report how depth smooths features on a built-in graph, and draw figures 1 and 2."""
    from rich.console import Console

    from graphsct.experiments.demo import run_demo, write_report
    from graphsct.experiments.figures import write_figure

    console = Console(highlight=False)
    report = run_demo()
    paths = write_report(report, out)
    graph = report.graph
    console.print(
        f"[bold]Built-in graph:[/] {graph.num_nodes} nodes, {graph.num_edges} edges, "
        f"{graph.num_components} connected component. Random features go through layers "
        "ReLU(G H W) with random weights."
    )
    console.print(
        "\n[bold]What depth does[/] to the normalized smoothness of the live dimensions and to "
        "the distance to the eigenspace:"
    )
    console.print(_depth_table(report), "")
    console.print(_control_text(report.control))
    with console.status("Drawing figures 1 and 2"):
        for number in (1, 2):
            paths += write_figure(number, out)
    typer.echo(f"\nWritten to {out}:")
    for path in paths:
        typer.echo(f"  {path.name}")


def _depth_table(report: Report) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in (
        "layers",
        "median\nsmoothness",
        "dead",
        "distance",
        "Dirichlet\nenergy",
        "normalized\nenergy",
        "effective\nrank",
    ):
        table.add_column(name, justify="right")
    for layers, found in report.depth.items():
        table.add_row(
            str(layers),
            "-" if found.smoothness is None else f"{found.smoothness:.4f}",
            f"{found.dead} of {found.dimensions}",
            f"{found.distance:.3g}",
            f"{found.dirichlet_energy:.3g}",
            f"{found.normalized_dirichlet_energy:.2e}",
            f"{found.effective_rank:.2f}",
        )
    return table


def _control_text(control: Control) -> str:
    before, after = control.before, control.after
    return (
        f"[bold]What you can do:[/] at layer {control.layer} the median smoothness is "
        f"{before.smoothness:.4f} and {before.dead} of {before.dimensions} dimensions are dead.\n"
        f"A shift of each dimension inside the eigenspace, before ReLU, reaches every smoothness "
        f"from {control.lower:.4f} to {control.upper:g}.\n"
        f"solve_alpha(z, graph, {control.target:g}) gives {after.smoothness:.6f} in all dimensions "
        f"(largest error {control.largest_error:.0e}), {after.dead} dead, "
        f"effective rank {before.effective_rank:.2f} -> {after.effective_rank:.2f}."
    )
