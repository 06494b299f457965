"""``graphsct reproduce``: a table of the paper beside our numbers, or its cells run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json, print_table

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_OUT = Path("results/reproduce")
_WORK = Path("results/reproduce/work")

_EXAMPLES = options.examples(
    ("Our numbers beside the paper's", "graphsct reproduce table1 --report"),
    ("Some cells on this machine", "graphsct reproduce table1 --data cora --depth 2,4"),
    (
        "Their settings searched anew",
        "graphsct reproduce table2 --data texas --model gcn --trials 50 --workers 2",
    ),
    ("The numbers of weights, as Markdown", "graphsct reproduce sizes --report --markdown"),
)


def _tables(incomplete: str) -> list[tuple[str, str]]:
    """Names of tables for a shell, with their titles."""
    from graphsct.paper.paper import tables

    found = list(tables().values())
    named = [(f"table{table.number}", table.title) for table in found]
    named += [(table.name, table.title) for table in found]
    named += [
        ("authors", "authors' settings"),
        ("replay", "the paper's protocol"),
        ("term", "the learned term"),
    ]
    return [(name, title) for name, title in named if name.startswith(incomplete)]


def _models() -> list[str]:
    from graphsct.paper.paper import MODELS

    return list(MODELS)


@app.command(epilog=_EXAMPLES)
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            help="table1 to table11, a name such as depth, or one of ours: authors, replay, term.",
            autocompletion=_tables,
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="Only these data sets, such as cora,texas.",
            autocompletion=options.lists_of(options.OF_THE_PAPER),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Only these models, such as gcn,egnn.", autocompletion=options.lists_of(_models)
        ),
    ] = None,
    depth: Annotated[
        str | None, typer.Option(help="Only these numbers of convolutions, such as 2,4.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="Only models without control (none) or with it (sct).",
            autocompletion=options.among(("none", "sct")),
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Run nothing; only show the results so far.")
    ] = False,
    seeds: Annotated[int | None, options.seeds(default="10; 3 for the table term")] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Search the settings of each cell again, with this many trials."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Start no trial of a cell after this many seconds. In a table of times, measure "
            "each cell for this long.",
        ),
    ] = None,
    max_hidden: Annotated[
        int | None,
        typer.Option(help="Largest number of channels that a search tries.", show_default="128"),
    ] = None,
    finalists: Annotated[int, options.finalists()] = 0,
    workers: Annotated[int, options.workers()] = 1,
    ray: Annotated[str | None, options.ray()] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the cells, one file each.",
            show_default=f"{_OUT}; with --report the stored results",
        ),
    ] = None,
    work: Annotated[Path, typer.Option(help="Folder of unfinished searches and runs.")] = _WORK,
    root: Annotated[Path | None, options.root()] = None,
    threads: Annotated[int | None, options.threads()] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown.")
    ] = False,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Show a table of the paper beside our numbers (--report), or train its cells on this machine,
    with the stored settings or with new ones (--trials). Finished cells are not trained again. The
    same command resumes after an interruption.

    Three tables are ours. 'authors' has models with the settings of their authors, 'replay' has the
    numbers that the paper's protocol could have printed, and 'term' shows what the learned term
    does.
    """
    import torch

    from graphsct.extras import stored_results
    from graphsct.paper.keys import Choice
    from graphsct.paper.tables import find
    from graphsct.paper.tables.experiment import Request

    if threads is not None:
        torch.set_num_threads(threads)
    request = Request(
        choice=Choice.parse(data, model, depth, control),
        out=out or (stored_results("paper") if report else _OUT),
        work=work,
        root=root,
        say=_say,
        seeds=seeds,
        trials=trials,
        seconds=seconds,
        max_hidden=max_hidden,
        workers=workers,
        ray=ray,
        finalists=finalists,
    )
    experiment = find(table)
    try:
        good = report or experiment.run(request)
    except KeyboardInterrupt:
        _say(f"interrupted: the same command resumes; finished results are in {request.out}")
        raise typer.Exit(130) from None
    shown = experiment.build(request.out, root).only(request.choice.includes)
    if not shown.rows and not shown.parts:
        raise experiment.nothing_left(request.choice, request.out)
    if as_json:
        print_json(shown.to_dict())
    elif markdown:
        typer.echo(shown.to_markdown())
    else:
        print_table(shown)
    if not good:
        raise typer.Exit(1)


def _say(line: str) -> None:
    typer.echo(line, err=True)
