"""``graphsct demo``: a deep network fails, the verdict says why, and the remedies are tried."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import available, print_files, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from graphsct.diagnosis import Diagnosis
    from graphsct.pages.tables import Table
    from graphsct.paper.depth import DepthStudy
    from graphsct.training import ModelConfig, TrainConfig

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_DEPTH, _HIDDEN = 32, 32
_EXAMPLES = options.examples(
    ("All of it, into results/demo", "graphsct demo"),
    ("And open its page", "graphsct demo --open"),
    ("A quick look", "graphsct demo --seeds 2 --epochs 50 --out look"),
)


@app.command(epilog=_EXAMPLES)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("results/demo"),
    seeds: Annotated[int, options.seeds()] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Largest number of epochs of a run.")] = 200,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Train a deep GCN that fails, find out where and why, try the remedies, and name the best one
    with its line of code. Then train a GCN with the paper's term on the same data and draw figures
    1 and 2. The page needs the extra 'report', the figures need 'plot'.
    """
    import webbrowser

    import torch

    from graphsct.diagnosis import try_remedies
    from graphsct.diagnosis.tables import effect_table
    from graphsct.diagnosis.words import best
    from graphsct.errors import ExperimentError
    from graphsct.extras import require
    from graphsct.paper.depth import run_depths
    from graphsct.paper.figures import write_figure
    from graphsct.paper.figures.depth_study import write_study
    from graphsct.training import ModelConfig, TrainConfig
    from graphsct.training.interrupt import interruptible

    page = out / "page.html"
    if show:
        require("plotly", "report")
    has_page = available(page.name, "plotly", "report")
    draws = available("every figure", "matplotlib", "plot")
    torch.set_num_threads(1)  # on small graphs threads only wait for each other
    console = terminal()
    console.quiet = as_json
    data, model = _data(), ModelConfig(depth=_DEPTH, hidden=_HIDDEN, init="glorot")
    config = TrainConfig(epochs=epochs, patience=epochs)
    with interruptible() as asked:
        found = _diagnose(model, data, config)
    _end_if(asked)
    _tell(
        console,
        f"A GCN with {_DEPTH} layers fails",
        f"It has to tell {data.num_classes} classes apart on the {found.graph.nodes} nodes of a "
        "built-in graph.",
    )
    console.print(found.verdict)
    _tell(console, "The remedies, tried", f"The same network with each remedy, {seeds} seeds:")
    with interruptible() as asked:
        found = try_remedies(found, model, data, config, seeds=range(seeds))
    _end_if(asked)
    effects = effect_table(found)
    chosen = best(found)
    assert effects is not None and chosen is not None
    console.print(effects.to_rich())
    _tell(console, f"The best of them, by validation: {chosen.title}", f"{chosen.text}. You write:")
    console.print(f"\n    {chosen.line}", style="cyan")
    _tell(console, "The term of the paper", _training_text(seeds, epochs))
    study = run_depths(data, out / "training", seeds=seeds, config=TrainConfig(epochs=epochs))
    console.print(_study_table(study).to_rich(), _what_it_shows(study), sep="\n")
    paths = []
    if has_page:
        found.save_html(page)
        paths.append(page)
    if draws:
        with console.status("Drawing"):
            for number in (1, 2):
                paths += write_figure(number, out)
            paths += write_study(study, out)
    if as_json:
        trained = [one.to_dict() for one in study.found.values()]
        print_files(paths, True, diagnosis=found.to_dict(), best=asdict(chosen), training=trained)
    else:
        typer.echo()
        if paths:
            typer.echo(f"Written to {out}: {', '.join(path.name for path in paths)}")
        typer.echo(f"The runs are in {out / 'training'}")
    if show and not webbrowser.open(page.absolute().as_uri()):
        raise ExperimentError(f"no browser could be started; open {page} by hand")


def _data() -> Any:
    """A graph on which edges help: a network without them gets 84 %, a good one with them 98 %."""
    from graphsct.datasets import PerClass, csbm

    return csbm(
        400,
        1200,
        num_classes=3,
        homophily=0.75,
        num_components=3,
        signal=0.6,
        split=PerClass(train=20, val=30),
        name="demo (generated)",
    )


def _diagnose(model: ModelConfig, data: Any, config: TrainConfig) -> Diagnosis:
    from graphsct.diagnosis import diagnose
    from graphsct.training import fit
    from graphsct.training.seeding import seeded

    with seeded(config.seed):
        network = model.build(data)
    run = fit(network, data, config, progress=False)
    return replace(diagnose(network, data), run=run)


def _end_if(asked: Callable[[], bool]) -> None:
    """End the demo after Ctrl-C, which by itself ends only the training."""
    if asked():
        raise KeyboardInterrupt


def _tell(console: Console, heading: str, text: str) -> None:
    from rich.text import Text

    console.print(Text(f"\n{heading}", style="bold"), text, sep="\n")


def _training_text(seeds: int, epochs: int) -> str:
    from graphsct.paper.depth import MODEL
    from graphsct.training import TrainConfig

    return (
        f"A GCN of width {MODEL.hidden} without and with smoothness control (SCT, "
        f"{MODEL.control!r}) on the same data. Test accuracy in %, mean ± standard deviation of "
        f"{seeds} seeds, at most {epochs} epochs, patience {TrainConfig().patience}:"
    )


def _what_it_shows(study: DepthStudy) -> str:
    """The effect of the term in the deep network by both rules that select the epoch."""
    deep = max(depth for _, depth in study.found)
    gains = {
        select: _gain([100 * one for one in found.differences])
        for (select, depth), found in study.found.items()
        if depth == deep
    }
    return (
        f"With {deep} layers the term changes the accuracy by {gains['val_loss']} points if "
        f"validation loss selects the epoch, and by {gains['val_score']} if validation accuracy "
        "does. A 95 % interval, in brackets, that contains zero shows no effect."
    )


def _gain(points: list[float]) -> str:
    """A mean with its interval; one run has no interval."""
    from graphsct.training.significance import interval

    between = interval(points)
    ends = "" if between is None else f" [{between[0]:+.1f}, {between[1]:+.1f}]"
    return f"{statistics.fmean(points):+.1f}{ends}"


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
        Column("epoch selected by", "{select:s}", right=False),
        Column("layers", "{depth:d}"),
        Column("GCN", "{without:s}"),
        Column("GCN-SCT", "{with_control:s}"),
        Column("difference", "{difference:s}"),
    )
    return Table("Test accuracy, %", columns, tuple(rows))
