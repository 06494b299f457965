"""``graphsct remedies``: what people do against over-smoothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.inputs import load_data, model_name
from graphsct.cli.output import print_files, print_json, print_table

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="List, describe and compare what people do against over-smoothing.",
    epilog=options.examples(
        ("All remedies", "graphsct remedies list"),
        ("One of them, with the line to write", "graphsct remedies show pair_norm"),
        ("All of them on Cora", "graphsct remedies compare --data cora --depth 2,4,8"),
        ("The results as a page", "graphsct remedies report"),
    ),
)

Json = Annotated[bool, options.as_json()]

_OUT = Path("results/remedies")


def _names() -> list[str]:
    from graphsct.remedies import REMEDIES

    return list(REMEDIES)


@app.command(
    "list",
    epilog=options.examples(
        ("All remedies", "graphsct remedies list"),
        ("As JSON", "graphsct remedies list --json"),
    ),
)
def list_(as_json: Json = False) -> None:
    """List the remedies, the papers they come from and the models they fit."""
    from graphsct.pages.tables import Column, Table
    from graphsct.remedies import FAMILIES, REMEDIES, Remedy

    if as_json:
        print_json({"remedies": [remedy.to_dict() for remedy in REMEDIES.values()]})
        return
    columns: tuple[Column[Remedy], ...] = (
        Column("name", "{name:s}", right=False),
        Column("family", "{family:s}", right=False),
        Column("fits", _fits, right=False),
        Column("source", lambda remedy: remedy.source.partition(";")[0], right=False),
    )
    notes = [f"{family}: change {what}" for family, what in FAMILIES.items()]
    notes.append(
        "any: also models of PyTorch Geometric and your own, if they have the parts to change"
    )
    rows = tuple(REMEDIES.values())
    print_table(Table("Remedies", columns, rows, tuple(notes), sections=("family",)))


def _number(remedy: Any) -> str:
    if remedy.number is None:
        return ""
    return f"{remedy.number.name} {' or '.join(f'{value:g}' for value in remedy.number.choices)}"


def _fits(remedy: Any) -> str:
    return ", ".join([*remedy.models, *(["any"] if remedy.applies else [])])


@app.command(
    epilog=options.examples(
        ("What PairNorm claims, and the line to write", "graphsct remedies show pair_norm"),
        ("As JSON", "graphsct remedies show drop_edge --json"),
    )
)
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A remedy of 'graphsct remedies list'.", autocompletion=options.among(_names)
        ),
    ],
    as_json: Json = False,
) -> None:
    """Describe a remedy: what it claims, what it changes, and the line to write."""
    from graphsct.errors import ExperimentError
    from graphsct.names import pick
    from graphsct.remedies import FAMILIES, REMEDIES

    remedy = pick(REMEDIES, name, "remedy", ExperimentError)
    if as_json:
        print_json(remedy.to_dict())
        return
    lines = {
        "source": f"{remedy.source}, {remedy.link}",
        "claim": remedy.claim,
        "changes": FAMILIES[remedy.family],
        "write": remedy.line,
        "number": _number(remedy) or "none",
        "fits": _fits(remedy),
    }
    typer.echo(f"{remedy.title}\n")
    for label, text in lines.items():
        typer.echo(f"  {label:10} {text}")


@app.command(
    epilog=options.examples(
        ("All remedies on Cora", "graphsct remedies compare --data cora --depth 2,4,8"),
        (
            "Two of them for GAT",
            "graphsct remedies compare --model pyg:GAT --remedy none --remedy pair_norm",
        ),
    )
)
def compare(
    data: Annotated[str, options.data()] = "demo",
    depth: Annotated[
        str, options.option("Numbers of layers, separated by commas.", None, True)
    ] = "2,4,8",
    remedy: Annotated[
        list[str] | None,
        options.option(
            "A remedy of 'graphsct remedies list'. May be repeated.",
            None,
            "all that fit",
            autocompletion=options.among(_names),
        ),
    ] = None,
    model: Annotated[str, options.model()] = "gcn",
    seeds: Annotated[int, options.seeds()] = 10,
    epochs: Annotated[
        int | None, options.option("Largest number of epochs of a run.", None, "200", min=1)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results, one file per cell.")] = _OUT,
    root: Annotated[Path | None, options.root()] = None,
    threads: Annotated[int | None, options.threads()] = None,
    as_json: Json = False,
) -> None:
    """Train a model with each remedy at each depth, all with the same budget: 8 settings, of which
    validation chooses one, then all seeds. A cell is one remedy at one depth. Finished cells are
    not run again. The same command resumes after an interruption, and several processes that run it
    share the cells.
    """
    import torch

    from graphsct.diagnosis import diagnose
    from graphsct.errors import ExperimentError
    from graphsct.names import pick
    from graphsct.remedies import REMEDIES
    from graphsct.remedies.budget import EPOCHS
    from graphsct.remedies.leaderboard import compare_remedies, fits
    from graphsct.remedies.standings import NARROW, best_table

    if threads is not None:
        torch.set_num_threads(threads)
    name = model_name(model)
    wanted = [pick(REMEDIES, each, "remedy", ExperimentError) for each in remedy or ()]
    cells = compare_remedies(
        load_data(data, {"root": root, "split_seed": 0, "symmetrize": False}),
        wanted or [each for each in REMEDIES.values() if fits(each, name)],
        _depths(depth),
        folder=out,
        name=data,
        model=name,
        seeds=seeds,
        epochs=epochs or EPOCHS,
        inspect=partial(diagnose, rival=False, influence=False, reach=False),
        say=lambda line: typer.echo(line, err=True),
    )
    if as_json:
        print_json({"cells": [cell.to_dict() for cell in cells]})
    else:
        title = f"Best remedy at each depth: {data}, {name}"
        print_table(replace(best_table(cells), title=title, columns=NARROW))


def _depths(text: str) -> list[int]:
    from graphsct.errors import ExperimentError

    words = text.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise ExperimentError(f"--depth {text} is not a list of whole numbers, such as 2,4,8")
    return [int(word) for word in words]


@app.command(
    epilog=options.examples(
        ("The stored results", "graphsct remedies report"),
        ("Your own", "graphsct remedies report results/remedies --out board.html"),
        ("Also as Markdown", "graphsct remedies report --markdown docs/remedies.md"),
    )
)
def report(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder that 'graphsct remedies compare' wrote.",
            show_default="the stored results",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="File for the page.")] = Path("remedies.html"),
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the tables as Markdown.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write all results as one HTML page that needs no network: the findings in words, the best
    remedy for each data set and depth, published scores beside ours, scores, ranks and energies by
    depth, and the time of an epoch.
    """
    from graphsct.files import write_text
    from graphsct.remedies import board_markdown
    from graphsct.remedies.board_cell import BoardCell
    from graphsct.remedies.board_page import write_leaderboard
    from graphsct.remedies.packed import read_packed

    cells = read_packed() if folder is None else BoardCell.read_all(folder)
    written = [write_leaderboard(cells, out)]
    if markdown is not None:
        write_text(markdown, board_markdown.markdown(cells, markdown.parent))
        written.append(markdown)
    print_files(written, as_json)
