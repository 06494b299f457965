"""``graphsct plan``: what exact training of a large graph on many machines would cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.options import option
from graphsct.cli.output import print_json, print_table

if TYPE_CHECKING:
    from graphsct.distributed.cost import Quote
    from graphsct.pages.tables import Table

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_GRAPH, _MODEL, _MACHINES = "The graph", "The model", "The machines"

#: Sizes of known graphs: nodes, undirected edges, features, classes.
KNOWN = {
    "ogbn-arxiv": (169_343, 1_157_799, 128, 40),
    "ogbn-products": (2_449_029, 61_859_140, 100, 47),
    "ogbn-papers100M": (111_059_956, 1_615_685_872, 128, 172),
}

_EXAMPLES = options.examples(
    (
        "A graph of this size on 16 machines",
        "graphsct plan --nodes 111e6 --edges 1.6e9 --machines 16",
    ),
    (
        "A known graph on 1 to 64 machines",
        "graphsct plan --like ogbn-papers100M --machines 1,16,64",
    ),
    ("Faster machines", "graphsct plan --like ogbn-products --speed 20 --memory 256"),
)


@app.command(epilog=_EXAMPLES)
def plan(
    nodes: Annotated[float | None, option("Number of nodes, such as 111e6.", _GRAPH)] = None,
    edges: Annotated[float | None, option("Number of undirected edges.", _GRAPH)] = None,
    features: Annotated[int | None, option("Number of features per node.", _GRAPH, "128")] = None,
    classes: Annotated[int | None, option("Number of classes.", _GRAPH, "40")] = None,
    like: Annotated[
        str | None, option(f"Take these numbers from a known graph: {', '.join(KNOWN)}.", _GRAPH)
    ] = None,
    cut: Annotated[
        float | None,
        option(
            "Share of the edges that connect two machines.",
            _GRAPH,
            "the share in a random partition",
        ),
    ] = None,
    model: Annotated[str, option("Model: gcn or gcnii, with control.", _MODEL, True)] = "gcn",
    depth: Annotated[int, option("Number of convolutions.", _MODEL, True)] = 4,
    width: Annotated[int, option("Number of channels per layer.", _MODEL, True)] = 128,
    machines: Annotated[
        str, option("Numbers of machines: 16, or 1,2,4.", _MACHINES, True)
    ] = "1,2,4,8,16",
    memory: Annotated[float, option("Memory of each machine in GB.", _MACHINES, True)] = 24.0,
    network: Annotated[float, option("Network of each machine in Gbit/s.", _MACHINES, True)] = 10.0,
    speed: Annotated[
        float, option("Speed of each machine, in cores like the one we measured.", _MACHINES, True)
    ] = 1.0,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Estimate whether exact full-graph training with control fits into the memory of a number of
    machines, how long an epoch takes, and what limits both. The estimate uses costs that were
    measured with one core per process (see the docs on training with many processes).
    """
    from graphsct.distributed.cost import Machine, Workload, quote

    sizes = _sizes(like, nodes=nodes, edges=edges, features=features, classes=classes)
    job = Workload(**sizes, depth=depth, width=width, model=model, cut=cut)
    machine = Machine(memory, network, speed)
    found = {count: quote(job, count, machine) for count in _counts(machines)}
    if as_json:
        rows = [{"machines": count, **_row(each)} for count, each in found.items()]
        print_json({"job": asdict(job), "machine": asdict(machine), "quotes": rows})
    else:
        print_table(_table(found), title=False)


def _sizes(like: str | None, **given: float | None) -> dict[str, Any]:
    from graphsct.errors import DataError
    from graphsct.names import pick

    sizes = {name: value for name, value in given.items() if value is not None}
    if like is not None:
        known = pick(KNOWN, like, "known graph", DataError)
        sizes = dict(zip(given, known, strict=True)) | sizes
    for name in ("nodes", "edges"):
        if name not in sizes:
            raise typer.BadParameter(f"give --{name}, or a known graph with --like")
    return sizes


def _counts(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isdigit():
            raise typer.BadParameter(f"--machines has {part!r}, expected numbers such as 1,2,4")
    return [int(part) for part in parts]


def _row(found: Quote) -> dict[str, Any]:
    return {
        "fits": found.fits,
        "limit": found.limit,
        "gigabytes": sum(found.bytes.values()) / 1e9,
        "seconds": sum(found.seconds.values()),
        "sent_per_layer_gigabytes": found.sent / 1e9,
        "share": found.share._asdict(),
        "seconds_by": found.seconds,
        "bytes_by": found.bytes,
    }


@dataclass(frozen=True)
class _Offer:
    """What a number of machines would take for an epoch."""

    machines: int
    fits: bool
    gigabytes: float
    seconds: float
    network: float
    sent: float
    limit: str


def _offer(machines: int, quote: Quote) -> _Offer:
    seconds = sum(quote.seconds.values())
    return _Offer(
        machines,
        quote.fits,
        sum(quote.bytes.values()) / 1e9,
        seconds,
        (quote.seconds["network"] + quote.seconds["messages"]) / seconds,
        quote.sent / 1e9,
        f"{'time' if quote.fits else 'memory'}: {quote.limit}",
    )


def _table(found: dict[int, Quote]) -> Table[_Offer]:
    from graphsct.pages.tables import Column, Field, Table

    columns: tuple[Column[_Offer], ...] = (
        Column("machines", "{machines:d}"),
        Column("fits", lambda row: "yes" if row.fits else Field("no", "worse"), right=False),
        Column("GB each", "{gigabytes:.1f}"),
        Column("s/epoch", "{seconds:.3g}"),
        Column("network", "{network:.0%}"),
        Column("GB/layer", "{sent:.3g}"),
        Column("limit", "{limit:s}", right=False),
    )
    note = "network: share of the time; GB/layer: sent by each machine, forward or backward"
    return Table("Offers", columns, tuple(_offer(*pair) for pair in found.items()), (note,))
