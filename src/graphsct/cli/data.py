"""``graphsct data``: list, verify, describe and partition the data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json

if TYPE_CHECKING:
    from graphsct.datasets.catalog import Entry

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="List, verify, describe and partition the data sets.",
    epilog=options.examples(
        ("All data sets, and where their files are", "graphsct data list"),
        ("Check the files of Cora", "graphsct data verify cora"),
        ("Divide Cora among two processes", "graphsct data partition cora --parts 2 --out parts"),
    ),
)

#: The sets with duplicate nodes.
LEAKY = ("chameleon", "squirrel")

#: How nodes are divided among processes.
METHODS = ("contiguous", "metis")

Root = Annotated[Path | None, options.root()]
Json = Annotated[bool, options.as_json()]
Name = Annotated[
    str,
    typer.Argument(
        help="A data set of 'graphsct data list'.",
        autocompletion=options.among(options.FROM_FILES),
    ),
]


@app.command(
    "list",
    epilog=options.examples(
        ("All data sets, and where their files are", "graphsct data list"),
        ("In another folder, as JSON", "graphsct data list --root raw --json"),
    ),
)
def list_(root: Root = None, as_json: Json = False) -> None:
    """List the data sets, their sizes and the places of their files."""
    from graphsct.datasets.catalog import CATALOG

    rows = []
    for entry in CATALOG.values():
        rows.append({"name": entry.name, **asdict(entry.facts), "where": _where(entry, root)})
    if as_json:
        print_json({"datasets": rows})
        return
    _table("Data sets", rows, without=("where",), caption="edges: undirected, without self-loops")
    for row in rows:
        typer.echo(f"{row['name']}: {row['where'] or 'not here'}")


@app.command(
    epilog=options.examples(
        ("Check the files of Cora", "graphsct data verify cora"),
        ("Check those in another folder", "graphsct data verify texas --root raw"),
    )
)
def verify(name: Name, root: Root = None, as_json: Json = False) -> None:
    """Check every raw file of a data set by its SHA256; exit 1 if one is missing or wrong."""
    from graphsct.datasets.load import verify

    files = verify(name, root)
    good = all(file.state == "ok" for file in files)
    rows = [
        {"file": f.name, "state": f.state, "sha256": f.sha256, "path": str(f.path)} for f in files
    ]
    if as_json:
        print_json({"name": name.lower(), "ok": good, "files": rows})
    else:
        _table(f"Raw files of {name.lower()}", rows, without=("sha256",))
        if any(file.state == "unchecked" for file in files):
            typer.echo("unchecked: no checksum is published; counts are checked on loading")
    if any(file.state in ("missing", "wrong") for file in files):
        raise typer.Exit(1)


@app.command(
    epilog=options.examples(
        ("The paper's table and ours", "graphsct data statistics"),
        ("As JSON", "graphsct data statistics --json"),
    )
)
def statistics(root: Root = None, as_json: Json = False) -> None:
    """Show the paper's table of statistics beside ours, its misprints marked with an *."""
    from graphsct.datasets.catalog import CATALOG

    rows = [_statistics(entry, root) for entry in CATALOG.values() if entry.paper]
    if as_json:
        print_json({"datasets": rows})
        return
    shown: list[dict[str, Any]] = []
    counts: dict[str, list[str]] = {}
    for row in rows:
        paper = {k: f"{v:,}" if isinstance(v, int) else v for k, v in row["paper"].items()}
        paper |= {column: f"{paper[column]}*" for column in row["misprints"]}
        shown.append({"data set": row["title"], "": "paper", **_columns(paper)})
        shown.append({"data set": "", "": "ours", **_columns(row["ours"] or {})})
        counts.setdefault(paper["counts"], []).append(row["title"])
    _table("The paper's table of statistics, and ours", shown)
    typer.echo("* a misprint. Our edges are undirected, without self-loops. The paper's are")
    for what, titles in counts.items():
        typer.echo(f"  {what}: {', '.join(titles)}")
    for row in rows:
        if "error" in row:
            typer.echo(f"{row['title']}: {row['error']}", err=True)


@app.command(
    epilog=options.examples(
        ("Both sets", "graphsct data leaks"),
        ("One of them, as JSON", "graphsct data leaks squirrel --json"),
    )
)
def leaks(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="chameleon, squirrel or both.",
            show_default="both",
            autocompletion=options.among(LEAKY),
        ),
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Count the test nodes with a duplicate (same links, same label) in training."""
    from graphsct.datasets.load import leaks, load

    report = {}
    for name in names or LEAKY:
        found = leaks(name, root)
        kept = load(name, root, drop_duplicates=True).graph.num_nodes
        nodes = load(name, root).graph.num_nodes
        report[name.lower()] = {
            "nodes": nodes,
            "kept": kept,
            "splits": [asdict(leak) for leak in found],
        }
    if as_json:
        print_json(report)
        return
    for name, entry in report.items():
        rows = [{**row, "share": f"{row['leaked'] / row['test']:.0%}"} for row in entry["splits"]]
        caption = f"drop_duplicates=True keeps {entry['kept']:,} of {entry['nodes']:,} nodes"
        _table(f"Test nodes of {name} with a duplicate in training", rows, caption=caption)


@app.command(
    epilog=options.examples(
        ("Among two processes", "graphsct data partition cora --parts 2 --out parts"),
        (
            "With few edges between them (graphsct[metis])",
            "graphsct data partition physics --parts 4 --method metis --out parts",
        ),
    )
)
def partition(
    name: Annotated[
        str,
        typer.Argument(
            help="A data set of 'graphsct data list', demo, or a folder with your own graph.",
            autocompletion=options.among(options.DATASETS),
        ),
    ],
    parts: Annotated[int, options.option("Number of processes.", min=1)],
    out: Annotated[Path, options.option("Folder to write to.")],
    method: Annotated[
        str,
        options.option("contiguous or metis.", default=True, autocompletion=options.among(METHODS)),
    ] = "contiguous",
    normalize: Annotated[bool, options.normalize()] = False,
    symmetrize: Annotated[bool, options.symmetrize()] = False,
    force: Annotated[bool, options.flag("--force", "Replace an existing partition.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Divide a data set among processes, for 'graphsct train --distributed'."""
    from graphsct.cli.inputs import load_or_read
    from graphsct.distributed.write import write_partition

    data = load_or_read(name, root, symmetrize=symmetrize, normalize=normalize)
    layout = write_partition(data, out, parts, method=method, force=force)
    if as_json:
        print_json({**layout.to_dict(), "folder": str(out)})
        return
    rows = [
        {"part": i, "nodes": piece.nodes, "entries": piece.entries, "halo": piece.halo}
        for i, piece in enumerate(layout.parts)
    ]
    crossing = f"{layout.crossing:,} of {layout.components:,} components are in several parts"
    _table(
        f"{layout.name} in {len(rows)} parts",
        rows,
        caption=f"entries: of the operator; halo: nodes needed from other parts; {crossing}",
    )
    typer.echo(f"Written to {out}")


def _columns(found: dict[str, Any]) -> dict[str, Any]:
    names = ("nodes", "edges", "features", "classes", "split")
    return {name: found.get(name, "not here") for name in names}


def _where(entry: Entry, root: Path | None) -> str | None:
    """The folder of the raw files or the processed file, ``None`` if there is neither."""
    from graphsct.datasets import raw
    from graphsct.datasets.parsed import path_for
    from graphsct.datasets.paths import cache_folder, data_root

    for place in (data_root(root), cache_folder()):
        states = {file.state for file in raw.look(entry, place)}
        if "wrong" in states:
            return f"wrong file in {place / entry.folder}: see 'graphsct data verify {entry.name}'"
        if "missing" not in states:
            return str(place / entry.folder)
    processed = path_for(entry, None)
    return str(processed) if processed.is_file() else None


def _statistics(entry: Entry, root: Path | None) -> dict[str, Any]:
    from graphsct.datasets.assemble import describe
    from graphsct.datasets.load import load
    from graphsct.errors import DataError

    paper = asdict(entry.paper) if entry.paper else {}
    row = {"name": entry.name, "title": entry.title, "misprints": paper.pop("misprints")}
    row |= {"paper": paper, "ours": None}
    if _where(entry, root) is None:
        return row  # never download for a table
    try:
        data = load(entry.name, root)
    except DataError as error:
        return row | {"error": str(error)}
    sizes = [int(mask.sum()) for mask in data.splits[0]]
    return row | {"ours": {**asdict(describe(data)), "split": "/".join(f"{n:,}" for n in sizes)}}


def _table(
    title: str, rows: Sequence[dict[str, Any]], *, caption: str = "", without: Sequence[str] = ()
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    columns = [column for column in rows[0] if column not in without]
    for column in columns:
        number = isinstance(rows[-1][column], int | float)
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    console = Console()
    if not console.is_terminal:  # nothing to fold lines for
        console = Console(width=200)
    console.print(table)
    if caption:
        typer.echo(caption)


def _cell(value: Any) -> str:
    if value is None:
        return "not here"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
