"""``graphsct search``: the best settings of a model on a data set, by validation alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from graphsct.search import Found

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_TASK, _TRIALS, _STUDY = "What to search", "Trials", "The study"


def _option(help: str, panel: str, default: str | bool = False, **more: Any) -> Any:  # noqa: A002
    return typer.Option(help=help, rich_help_panel=panel, show_default=default, **more)


@app.command()
def search(
    data: Annotated[
        str, _option("A data set of 'graphsct data list', or demo.", _TASK, "demo")
    ] = "demo",
    model: Annotated[str, _option("gcn, gcnii or egnn.", _TASK, "gcn")] = "gcn",
    control: Annotated[
        str | None, _option("pooled, gated, gated_full or none.", _TASK, "none")
    ] = None,
    depth: Annotated[
        int | None, _option("Number of convolutions.", _TASK, "2, 4, 8 and 16 are tried")
    ] = None,
    activation: Annotated[
        str | None, _option("relu, leaky_relu, ...", _TASK, "relu and leaky_relu are tried")
    ] = None,
    max_hidden: Annotated[int | None, _option("Most channels.", _TASK, "128")] = None,
    select: Annotated[
        str, _option("What chooses the epoch and scores a trial, or val_loss.", _TASK, True)
    ] = "val_accuracy",
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize", help="Make each row of features sum to one.", rich_help_panel=_TASK
        ),
    ] = False,
    trials: Annotated[int, _option("In all, with those there are.", _TRIALS, True, min=1)] = 200,
    runs: Annotated[
        int | None, _option("Of each trial.", _TRIALS, "2, or one a split", min=1)
    ] = None,
    epochs: Annotated[int, _option("Of each run, at most.", _TRIALS, True)] = 1500,
    patience: Annotated[int, _option("Of each run, in epochs.", _TRIALS, True)] = 100,
    seconds: Annotated[float | None, _option("Begin no trial after this time.", _TRIALS)] = None,
    seed: Annotated[int, _option("Of what is tried.", _TRIALS, True, min=0)] = 0,
    root: Annotated[Path | None, _option("Folder with the raw files of data sets.", _STUDY)] = None,
    out: Annotated[
        Path | None, _option("Its folder.", _STUDY, "results/search/DATA-MODEL-CONTROL-DEPTH")
    ] = None,
    workers: Annotated[int, _option("Processes.", _STUDY, True, min=1)] = 1,
    ray: Annotated[
        str | None, _option("Workers on a Ray cluster: its address, auto or local.", _STUDY)
    ] = None,
    threads: Annotated[int | None, _option("Of PyTorch, in all.", _STUDY, min=1)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_STUDY)
    ] = False,
) -> None:
    """Search for the settings with the best mean validation accuracy; test nodes are never looked
    at. Stop it as you like: the same command goes on, and several at once share the work.
    """
    import torch

    from graphsct.experiments.figures.search import write_search
    from graphsct.extras import require
    from graphsct.search import Task
    from graphsct.search import search as run

    require("matplotlib", "search")
    if threads is not None:
        torch.set_num_threads(threads)
    task = Task(
        data=data.lower(),
        model=model,
        control=None if control == "none" else control,
        depth=depth,
        activation=activation,
        select=select,
        normalize=normalize,
        max_hidden=max_hidden,
    )
    folder = out or Path("results/search") / "-".join(
        [task.data, task.model, task.control or "plain", str(task.depth or "any")]
    )
    found = run(
        task,
        trials=trials,
        seed=seed,
        runs=runs,
        storage=folder,
        root=root,
        epochs=epochs,
        patience=patience,
        seconds=seconds,
        workers=workers,
        ray=ray,
    )
    write_search(folder)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        _show(found, folder)
    if found.interrupted:
        typer.echo(f"interrupted: the same command goes on in {folder}", err=True)
        raise typer.Exit(130)


def _show(found: Found, folder: Path) -> None:
    from rich.console import Console

    from graphsct.cli.results import SELECT
    from graphsct.search.progress import show_score

    console = Console(highlight=False)
    console.print(
        f"{found.trials} trials of {found.seeds_per_trial} runs, {found.pruned} given up early, "
        f"{found.failed} failed; {found.seconds:.0f} s of training"
    )
    select = found.task.select
    console.print(f"best mean {SELECT[select]}: [bold]{show_score(found.score, select)}[/]")
    for part in (found.model, found.train):
        values = {k: v for k, v in part.to_dict().items() if v is not None}
        console.print("  " + ", ".join(f"{name} {value}" for name, value in values.items()))
    line = f"graphsct train --data {found.task.data} --config {folder / 'best.json'}"
    if found.task.normalize:
        line += " --normalize"
    console.print(f"Written to {folder}; now: {line}", soft_wrap=True)
