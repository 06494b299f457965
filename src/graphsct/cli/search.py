"""``graphsct search``: the best settings of a model on a data set, by validation alone."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.inputs import load_data, settings
from graphsct.cli.options import option
from graphsct.cli.output import beside_results, diverted, print_json, terminal

if TYPE_CHECKING:
    from graphsct.search import Found

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_DATA, _TASK, _TRIALS, _STUDY = "The data", "The task", "Trials", "The study"

_EXAMPLES = options.examples(
    (
        "GCNII with control on Cora, in two processes",
        "graphsct search --data cora --model gcnii --control gated --workers 2",
    ),
    ("A search of ten minutes", "graphsct search --data texas --seconds 600"),
    ("Your own model", "graphsct search my_model.py:Net --data cora --option hops=2"),
    ("A model of PyTorch Geometric", "graphsct search --data cora --model pyg:GraphSAGE"),
    ("Then train with the best settings", "graphsct train --data texas --config FOLDER/best.json"),
)


@app.command(epilog=_EXAMPLES)
def search(
    ctx: typer.Context,
    target: Annotated[str | None, options.target()] = None,
    data: Annotated[str, options.data(_DATA)] = "demo",
    normalize: Annotated[bool | None, options.normalize(_DATA, "both are tried")] = None,
    symmetrize: Annotated[bool, options.symmetrize(_DATA)] = False,
    split: Annotated[str | None, options.split(_DATA)] = None,
    split_seed: Annotated[int, options.split_seed(_DATA)] = 0,
    features: Annotated[str | None, options.features(_DATA)] = None,
    root: Annotated[Path | None, options.root(_DATA)] = None,
    model: Annotated[str | None, options.model(_TASK)] = None,
    control: Annotated[str | None, options.control(_TASK)] = None,
    depth: Annotated[int | None, options.depth(_TASK, "2, 4, 8, 16 and 32 are tried")] = None,
    activation: Annotated[
        str | None,
        option("Activation: relu, leaky_relu, elu, ...", _TASK, "relu and leaky_relu are tried"),
    ] = None,
    max_hidden: Annotated[
        int | None, option("Largest number of channels to try.", _TASK, "128")
    ] = None,
    more: Annotated[list[str] | None, options.more(_TASK)] = None,
    metric: Annotated[str | None, options.metric(_TASK)] = None,
    select: Annotated[str, options.select(_TASK)] = "val_score",
    trials: Annotated[
        int,
        option(
            "Number of trials in all, earlier ones included.", _TRIALS, True, min=1, max=2**31 - 1
        ),
    ] = 200,
    seeds: Annotated[int | None, options.seeds(_TRIALS, "2, or one per split")] = None,
    epochs: Annotated[int, option("Largest number of epochs of a run.", _TRIALS, True)] = 1500,
    patience: Annotated[
        int, option("A run ends after this many epochs without a better one.", _TRIALS, True)
    ] = 100,
    seconds: Annotated[
        float | None, option("Start no trial after this many seconds.", _TRIALS)
    ] = None,
    finalists: Annotated[int, options.finalists(_TRIALS)] = 0,
    seed: Annotated[int, option("Seed of the search.", _TRIALS, True, min=0)] = 0,
    out: Annotated[
        Path | None, option("Folder of the study.", _STUDY, "a new one in results/search")
    ] = None,
    workers: Annotated[int, options.workers(_STUDY)] = 1,
    ray: Annotated[str | None, options.ray(_STUDY)] = None,
    database: Annotated[
        str | None, option("Keep the study in PostgreSQL: postgresql://user@host/name.", _STUDY)
    ] = None,
    device: Annotated[str | None, options.device(_STUDY)] = None,
    threads: Annotated[int | None, options.threads(_STUDY)] = None,
    as_json: Annotated[bool, options.as_json(_STUDY)] = False,
) -> None:
    """Search for the settings with the best mean validation metric. The search never sees a test
    node. The same command resumes a search that was stopped, and several processes that run it
    share the work.
    """
    import torch

    from graphsct.extras import require
    from graphsct.search import Task
    from graphsct.search import search as run
    from graphsct.search.figure import write_search

    require("matplotlib", "search")
    if threads is not None:
        torch.set_num_threads(threads)
    with diverted(as_json):
        given = settings(ctx.params, (field.name for field in fields(Task)))
        loaded = load_data(data, ctx.params, normalize=normalize)
        place = loaded.source.get("path", loaded.source["name"])
        defaults = {"model": "gcn", "control": None, "depth": None}
        task = Task(**{**defaults, **given, "data": place})
        parts = [task.model, task.control or "plain", str(task.depth or "any")]
        name = "-".join([loaded.source["name"], *parts]).replace(":", "-")
        folder = out or Path("results/search") / name
        found = run(
            task,
            data=loaded,
            trials=trials,
            seed=seed,
            runs=seeds,
            storage=folder,
            epochs=epochs,
            patience=patience,
            seconds=seconds,
            finalists=finalists,
            workers=workers,
            ray=ray,
            database=database,
            device=device,
        )
        with beside_results("the figure", ctx):
            write_search(folder)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, folder, ctx.params)
    if found.interrupted:
        typer.echo(f"interrupted: the same command continues in {folder}", err=True)
        raise typer.Exit(130)


def _show(found: Found, folder: Path, given: dict[str, Any]) -> None:
    from rich.text import Text

    from graphsct.python_file import is_file
    from graphsct.search.finals import TIMES

    console = terminal()
    console.print(
        f"{found.trials} trials of {found.seeds_per_trial} runs, {found.pruned} given up early, "
        f"{found.failed} failed; {found.seconds:.0f} s of training"
    )
    if found.finalists:
        runs = TIMES * found.seeds_per_trial
        console.print(f"the best {found.finalists} had {runs} runs each")
    by = found.task.criterion
    console.print(Text.assemble(f"best mean {by.title}: ", (by.show(found.score), "bold")))
    for part in (found.model, found.train):
        values = {k: v for k, v in part.to_dict().items() if v is not None}
        console.print("  " + ", ".join(f"{name} {value}" for name, value in values.items()))
    if found.normalize:
        console.print("  each row of features scaled to sum to one")
    words = ["graphsct", "train", "--data", found.task.data, "--config", str(folder / "best.json")]
    model = given["target"] or given["model"]
    words += ["--model", model] if model is not None and is_file(model) else []
    words += ["--symmetrize"] if given["symmetrize"] else []
    for name in ("split", "split_seed", "features", "root"):
        words += [f"--{name.replace('_', '-')}", str(given[name])] if given[name] else []
    console.print(f"Written to {folder}; now: {shlex.join(words)}", soft_wrap=True)
