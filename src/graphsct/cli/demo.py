"""``graphsct demo``: smoothness and training on built-in graphs, and figures 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsct.cli import options
from graphsct.cli.output import print_files

if TYPE_CHECKING:
    from graphsct.pages.tables import Table
    from graphsct.paper.demo import Control, Report
    from graphsct.paper.depth import DepthStudy
    from graphsct.smoothness.summary import Summary

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_EXAMPLES = options.examples(
    ("All of it, into results/demo", "graphsct demo"),
    ("A quick look", "graphsct demo --seeds 2 --epochs 50 --out look"),
    ("For a machine", "graphsct demo --json"),
)


@app.command(epilog=_EXAMPLES)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("results/demo"),
    seeds: Annotated[int, options.seeds()] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="At most, for each run.")] = 400,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Report how depth smooths features on a built-in graph, train a GCN with and without control
    at depths 2 and 16, and draw what comes out with figures 1 and 2.
    """
    import torch
    from rich.console import Console

    from graphsct.paper.demo import run_demo, write_report
    from graphsct.paper.depth import run_depths
    from graphsct.paper.figures import write_figure
    from graphsct.paper.figures.depth_study import write_study
    from graphsct.training import TrainConfig

    torch.set_num_threads(1)  # on small graphs threads only wait for each other
    console = Console(highlight=False, quiet=as_json)
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
    console.print(_depth_table(report).to_rich(), "")
    console.print(_control_text(report.control))
    with console.status("Drawing figures 1 and 2"):
        for number in (1, 2):
            paths += write_figure(number, out)
    console.print(f"\n[bold]What training makes of it:[/] {_training_text(seeds, epochs)}")
    study = run_depths(out / "training", seeds=seeds, config=TrainConfig(epochs=epochs))
    console.print(_study_table(study).to_rich(), "")
    with console.status("Drawing the training"):
        paths += write_study(study, out)
    if as_json:
        trained = [found.to_dict() for found in study.found.values()]
        print_files(paths, True, **report.as_dict(), training=trained)
        return
    typer.echo(f"Written to {out}, the runs to {out / 'training'}:")
    typer.echo("  " + " ".join(path.name for path in paths))


def _training_text(seeds: int, epochs: int) -> str:
    from graphsct.datasets import demo
    from graphsct.paper.depth import MODEL
    from graphsct.training import TrainConfig

    graph = demo().graph
    return (
        f"a GCN of width {MODEL.hidden} without and with smoothness control (SCT, "
        f"{MODEL.control!r}) on the built-in data, {graph.num_nodes} nodes of 3 classes in "
        f"{graph.num_components} components. Test accuracy in %, mean ± standard deviation of "
        f"{seeds} seeds, at most {epochs} epochs, patience {TrainConfig().patience}:"
    )


@dataclass(frozen=True)
class _Trained:
    """Test accuracies of one depth and one rule that selects the epoch."""

    select: str
    depth: int
    without: str
    with_control: str
    difference: str


def _study_table(study: DepthStudy) -> Table[_Trained]:
    from graphsct.pages.tables import Column, Table
    from graphsct.training.selection import Criterion

    rows = []
    for (select, depth), found in study.found.items():
        show = found.results.metric.show
        shares = [show([run.test_score for run in part.runs]) for part in found.parts]
        difference = show(found.differences, sign="+")
        rows.append(_Trained(Criterion(select).title, depth, shares[1], shares[0], difference))
    columns: tuple[Column[_Trained], ...] = (
        Column("epoch chosen by", "{select:s}", right=False),
        Column("layers", "{depth:d}"),
        Column("GCN", "{without:s}"),
        Column("GCN-SCT", "{with_control:s}"),
        Column("difference", "{difference:s}"),
    )
    return Table("Test accuracy, %", columns, tuple(rows))


@dataclass(frozen=True)
class _Measured:
    """The features after a number of layers."""

    layers: int
    found: Summary


def _depth_table(report: Report) -> Table[_Measured]:
    from graphsct.pages.tables import Column, Table

    columns: tuple[Column[_Measured], ...] = (
        Column("layers", "{layers:d}"),
        Column("median smoothness", ("{found.smoothness:.4f}", "-")),
        Column("dead", "{found.dead:d} of {found.dimensions:d}"),
        Column("distance", "{found.distance:.3g}"),
        Column("Dirichlet energy", "{found.dirichlet_energy:.3g}"),
        Column("normalized energy", "{found.normalized_dirichlet_energy:.2e}"),
        Column("effective rank", "{found.effective_rank:.2f}"),
    )
    rows = tuple(_Measured(layers, found) for layers, found in report.depth.items())
    return Table("Features by depth", columns, rows)


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
