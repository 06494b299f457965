"""``graphsct data``: which data sets there are, whether they are right, what is in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from graphsct.datasets.catalog import Entry

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Data sets: list, verify, statistics, leaks.")

Root = Annotated[
    Path | None,
    typer.Option(help="Folder with the raw files; GRAPHSCT_DATA or the cache if left out."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Name = Annotated[str, typer.Argument(help="A data set, as in 'graphsct data list'.")]


@app.command("list")
def list_(root: Root = None, as_json: Json = False) -> None:
    """The data sets, what is in them, and where their files are."""
    from graphsct.datasets.catalog import CATALOG

    rows = []
    for entry in CATALOG.values():
        rows.append({"name": entry.name, **asdict(entry.facts), "where": _where(entry, root)})
    if as_json:
        typer.echo(json.dumps({"datasets": rows}))
        return
    _table("Data sets", rows, caption="edges: undirected, without self-loops")


@app.command()
def verify(name: Name, root: Root = None, as_json: Json = False) -> None:
    """Check every raw file of a data set by its SHA256; exit 1 if one is missing or wrong."""
    from graphsct.datasets.load import verify

    files = _or_exit(verify, name, root)
    good = all(file.state == "ok" for file in files)
    rows = [
        {"file": f.name, "state": f.state, "sha256": f.sha256, "path": str(f.path)} for f in files
    ]
    if as_json:
        typer.echo(json.dumps({"name": name.lower(), "ok": good, "files": rows}))
    else:
        _table(f"Raw files of {name.lower()}", rows, without=("sha256",))
        if any(file.state == "unchecked" for file in files):
            typer.echo("unchecked: nobody publishes a checksum; counts are checked on loading")
    if any(file.state in ("missing", "wrong") for file in files):
        raise typer.Exit(1)


@app.command()
def statistics(root: Root = None, as_json: Json = False) -> None:
    """The paper's table of statistics beside what loads, its misprints marked with an *."""
    from graphsct.datasets.catalog import CATALOG

    rows = [_statistics(entry, root) for entry in CATALOG.values() if entry.paper]
    if as_json:
        typer.echo(json.dumps({"datasets": rows}))
        return
    shown = []
    for row in rows:
        paper, ours = row["paper"], row["ours"] or {}
        absent = "broken" if "error" in row else "not here"
        cells = {
            column: f"{paper[column]:,}{'*' if column in row['misprints'] else ''} / "
            + (f"{ours[column]:,}" if ours else absent)
            for column in ("nodes", "edges", "features", "classes")
        }
        split = f"{paper['split']} / {ours.get('split', absent)}"
        shown.append({"data set": row["title"], **cells, "split": split, "counts": paper["counts"]})
    _table(
        "Paper / ours",
        shown,
        caption="* a misprint; ours counts undirected edges without self-loops, the paper what the "
        "last column says",
    )
    for row in rows:
        if "error" in row:
            typer.echo(f"{row['title']}: {row['error']}", err=True)


@app.command()
def leaks(
    names: Annotated[list[str] | None, typer.Argument(help="chameleon, squirrel or both.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """How many test nodes have a duplicate (same links, same label) in training."""
    from graphsct.datasets.load import leaks, load

    report = {}
    for name in names or ("chameleon", "squirrel"):
        found = _or_exit(leaks, name, root)
        kept = load(name, root, drop_duplicates=True).graph.num_nodes
        nodes = load(name, root).graph.num_nodes
        report[name.lower()] = {
            "nodes": nodes,
            "kept": kept,
            "splits": [asdict(leak) for leak in found],
        }
    if as_json:
        typer.echo(json.dumps(report))
        return
    for name, entry in report.items():
        rows = [{**row, "share": f"{row['leaked'] / row['test']:.0%}"} for row in entry["splits"]]
        caption = f"drop_duplicates=True keeps {entry['kept']:,} of {entry['nodes']:,} nodes"
        _table(f"Test nodes of {name} with a duplicate in training", rows, caption=caption)


def _where(entry: Entry, root: Path | None) -> str | None:
    """The folder of the raw files or the processed file, ``None`` if there is neither."""
    from graphsct.datasets import raw, store
    from graphsct.datasets.places import cache_folder, data_root

    for place in (data_root(root), cache_folder()):
        states = {file.state for file in raw.look(entry, place)}
        if "wrong" in states:
            return f"wrong file in {place / entry.folder}: see 'graphsct data verify {entry.name}'"
        if "missing" not in states:
            return str(place / entry.folder)
    processed = store.path_for(entry, None)
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


def _or_exit(function: Any, *args: Any) -> Any:
    from graphsct.errors import DataError

    try:
        return function(*args)
    except DataError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None


def _table(
    title: str, rows: Sequence[dict[str, Any]], *, caption: str = "", without: Sequence[str] = ()
) -> None:
    from rich.console import Console
    from rich.table import Table

    columns = [column for column in rows[0] if column not in without]
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    Console().print(table)
    if caption:
        typer.echo(caption)


def _cell(value: Any) -> str:
    if value is None:
        return "not here"
    return f"{value:,}" if isinstance(value, int) else str(value)
