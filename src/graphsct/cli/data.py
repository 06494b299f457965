"""``graphsct data``: list, verify, describe and partition the data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json, print_table

if TYPE_CHECKING:
    from graphsct.datasets.catalog import Entry, Facts
    from graphsct.distributed.layout import Piece
    from graphsct.pages.tables import Table

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
    """List the data sets, their sizes and where their files are."""
    from graphsct.datasets.catalog import CATALOG
    from graphsct.pages.tables import Column, Table

    rows = tuple(_Set(e.name, e.facts, e.metric, _where(e, root)) for e in CATALOG.values())
    if as_json:
        sets = [
            {"name": row.name, **asdict(row.facts), "metric": row.metric, "where": row.where}
            for row in rows
        ]
        print_json({"datasets": sets})
        return
    counts = ("nodes", "edges", "features", "classes", "components")
    columns: tuple[Column[_Set], ...] = (
        Column("name", "{name:s}", right=False),
        *(Column(name, partial(_count, name)) for name in counts),
        Column("homophily", partial(_count, "homophily")),
        Column("metric", "{metric:s}", right=False),
    )
    places = [f"{row.name}: {row.where or 'not here'}" for row in rows]
    notes = ("edges: undirected, without self-loops; ?: we have not measured it", *places)
    print_table(Table("Data sets", columns, rows, notes))


@dataclass(frozen=True)
class _Set:
    """A data set, and where its files are."""

    name: str
    facts: Facts
    metric: str
    where: str | None


def _count(name: str, row: _Set) -> str:
    value = getattr(row.facts, name)
    if value is None:
        return "?"
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


@app.command(
    epilog=options.examples(
        ("Check the files of Cora", "graphsct data verify cora"),
        ("Check the files in another folder", "graphsct data verify texas --root raw"),
    )
)
def verify(name: Name, root: Root = None, as_json: Json = False) -> None:
    """Compare the SHA256 of every raw file of a data set with the known one. The exit code is 1 if
    a file is missing or differs.
    """
    from graphsct.datasets.load import verify
    from graphsct.datasets.raw import RawFile
    from graphsct.pages.tables import Column, Table

    files = verify(name, root)
    if as_json:
        good = all(file.state == "ok" for file in files)
        rows = [
            {"file": file.name, "state": file.state, "sha256": file.sha256, "path": str(file.path)}
            for file in files
        ]
        print_json({"name": name.lower(), "ok": good, "files": rows})
    else:
        columns: tuple[Column[RawFile], ...] = (
            Column("file", "{name:s}", right=False),
            Column("state", "{state:s}", right=False),
            Column("path", lambda file: str(file.path), right=False),
        )
        unchecked = "unchecked: no checksum is published; counts are checked on loading"
        notes = (unchecked,) if any(file.state == "unchecked" for file in files) else ()
        print_table(Table(f"Raw files of {name.lower()}", columns, tuple(files), notes))
    if any(file.state in ("missing", "wrong") for file in files):
        raise typer.Exit(1)


@app.command(
    epilog=options.examples(
        ("The paper's table and ours", "graphsct data statistics"),
        ("As JSON", "graphsct data statistics --json"),
        ("Your own graph", "graphsct data statistics folder --symmetrize"),
    )
)
def statistics(
    ctx: typer.Context,
    data: Annotated[
        str | None,
        typer.Argument(help=options.DATA, show_default="all data sets", metavar="DATA"),
    ] = None,
    symmetrize: Annotated[bool, options.symmetrize()] = False,
    split: Annotated[str | None, options.split()] = None,
    split_seed: Annotated[int, options.split_seed()] = 0,
    features: Annotated[str | None, options.features()] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Count nodes, edges, features, classes and splits. Without DATA, count those of all data sets
    beside the paper's table, in which an asterisk marks a misprint.
    """
    from graphsct.cli.inputs import load_data
    from graphsct.datasets.catalog import CATALOG

    if data is not None:
        opened = load_data(data, ctx.params)
        rows = [{"name": opened.source["name"], "title": opened.name, "ours": _counts(opened)}]
    else:
        rows = [_statistics(entry, root) for entry in CATALOG.values()]
    if as_json:
        print_json({"datasets": rows})
        return
    print_table(_statistics_table(rows))
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
            help="chameleon or squirrel.",
            show_default="both",
            autocompletion=options.among(LEAKY),
        ),
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Count the test nodes that have a duplicate among the training nodes: a node with the same
    edges and the same label.
    """
    from graphsct.datasets.duplicates import Leak
    from graphsct.datasets.load import leaks, load
    from graphsct.pages.tables import Column, Table

    report = {}
    for name in names or LEAKY:
        found = leaks(name, root)
        kept = load(name, root, drop_duplicates=True).graph.num_nodes
        nodes = load(name, root).graph.num_nodes
        report[name.lower()] = nodes, kept, tuple(found)
    if as_json:
        print_json(
            {
                name: {"nodes": nodes, "kept": kept, "splits": [asdict(leak) for leak in found]}
                for name, (nodes, kept, found) in report.items()
            }
        )
        return
    columns: tuple[Column[Leak], ...] = (
        Column("split", "{split:d}"),
        Column("test", "{test:,d}"),
        Column("leaked", "{leaked:,d}"),
        Column("share", lambda leak: f"{leak.leaked / leak.test:.0%}"),
    )
    for name, (nodes, kept, splits) in report.items():
        note = f"Without duplicates, {kept:,} of {nodes:,} nodes are left."
        title = f"Test nodes of {name} with a duplicate in training"
        print_table(Table(title, columns, splits, (note,)))


@app.command(
    epilog=options.examples(
        ("Among two processes", "graphsct data partition cora --parts 2 --out parts"),
        (
            "With few edges between the parts (needs graphsct[metis])",
            "graphsct data partition physics --parts 4 --method metis --out parts",
        ),
    )
)
def partition(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(help=options.DATA, autocompletion=options.among(options.DATASETS)),
    ],
    parts: Annotated[int, options.option("Number of parts, one for each process.", min=1)],
    out: Annotated[Path, options.option("Folder for the parts.")],
    method: Annotated[
        str,
        options.option(
            "How to divide the nodes: contiguous or metis.",
            default=True,
            autocompletion=options.among(METHODS),
        ),
    ] = "contiguous",
    normalize: Annotated[bool, options.normalize()] = False,
    symmetrize: Annotated[bool, options.symmetrize()] = False,
    split: Annotated[str | None, options.split()] = None,
    split_seed: Annotated[int, options.split_seed()] = 0,
    features: Annotated[str | None, options.features()] = None,
    force: Annotated[bool, options.flag("--force", "Replace an existing partition.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Divide a data set among processes, for 'graphsct train --distributed'."""
    from graphsct.cli.inputs import load_data
    from graphsct.distributed.write import write_partition
    from graphsct.pages.tables import Column, Table

    data = load_data(name, ctx.params, normalize=normalize)
    layout = write_partition(data, out, parts, method=method, force=force)
    if as_json:
        print_json({**layout.to_dict(), "folder": str(out)})
        return
    rows = tuple(_Part(number, piece) for number, piece in enumerate(layout.parts))
    columns: tuple[Column[_Part], ...] = (
        Column("part", "{number:d}"),
        Column("nodes", "{piece.nodes:,d}"),
        Column("entries", "{piece.entries:,d}"),
        Column("halo", "{piece.halo:,d}"),
    )
    notes = (
        "entries: of the operator; halo: nodes of other parts that a part needs; "
        f"{layout.crossing:,} of {layout.components:,} components are in several parts",
        f"Written to {out}",
    )
    print_table(Table(f"{layout.name} in {len(rows)} parts", columns, rows, notes))


@dataclass(frozen=True)
class _Part:
    """A part of a partition, and its number."""

    number: int
    piece: Piece


def _where(entry: Entry, root: Path | None) -> str | None:
    """Return the folder of the raw files or the processed file, ``None`` if there is neither."""
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
    from graphsct.datasets.load import load
    from graphsct.errors import DataError

    row: dict[str, Any] = {"name": entry.name, "title": entry.title, "ours": None}
    if entry.paper is not None:
        paper = asdict(entry.paper)
        row |= {"misprints": paper.pop("misprints"), "paper": paper}
    if _where(entry, root) is None:
        return row  # never download for a table
    made = None if entry.facts.features else "degree"
    try:
        data = load(entry.name, root, features=made)
    except DataError as error:
        return row | {"error": str(error)}
    return row | {"ours": _counts(data) | ({} if made is None else {"features": 0})}


def _counts(data: Any) -> dict[str, Any]:
    """Counts by name; sizes of the first split, and the number of splits if there are several."""
    from graphsct.datasets.assemble import describe

    splits = getattr(data, "splits", None) or []
    sizes = "/".join(f"{int(mask.sum()):,}" for mask in splits[0]) if splits else "none"
    more = f", {len(splits)} splits" if len(splits) > 1 else ""
    return {**asdict(describe(data)), "split": sizes + more}


@dataclass(frozen=True)
class _Counts:
    """The counts of a data set, in the paper or in the data we load, as text."""

    title: str
    side: str
    nodes: str
    edges: str
    features: str
    classes: str
    split: str

    @classmethod
    def of(cls, title: str, side: str, found: dict[str, Any], misprints: Sequence[str]) -> _Counts:
        """Format counts by name, and mark misprints with an asterisk."""
        names = ("nodes", "edges", "features", "classes", "split")
        values = [found.get(name, "not here") for name in names]
        texts = [f"{value:,}" if isinstance(value, int) else value for value in values]
        marks = ["*" * (name in misprints) for name in names]
        return cls(title, side, *map("".join, zip(texts, marks, strict=True)))


def _statistics_table(rows: Sequence[dict[str, Any]]) -> Table[_Counts]:
    from graphsct.pages.tables import Column, Table

    shown: list[_Counts] = []
    counts: dict[str, list[str]] = {}
    for row in rows:
        title = row["title"]
        if "paper" in row:
            shown.append(_Counts.of(title, "paper", row["paper"], row["misprints"]))
            counts.setdefault(row["paper"]["counts"], []).append(title)
            title = ""
        shown.append(_Counts.of(title, "ours", row["ours"] or {}, ()))
    columns: tuple[Column[_Counts], ...] = (
        Column("data set", "{title:s}", right=False),
        Column("", "{side:s}", right=False),
        *(Column(name, f"{{{name}:s}}") for name in ("nodes", "edges", "features", "classes")),
        Column("split", "{split:s}", right=False),
    )
    notes = ["Our edges are undirected, without self-loops."]
    if counts:
        notes = [f"* a misprint. {notes[0]} The paper's are"]
        notes += [f"  {what}: {', '.join(titles)}" for what, titles in counts.items()]
    title = "The paper's table of statistics, and ours" if counts else "Statistics"
    return Table(title, columns, tuple(shown), tuple(notes))
