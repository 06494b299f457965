"""``graphsct bench``: our time of an epoch, beside PyTorch Geometric's and an expert's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json, print_table
from graphsct.errors import GraphsctError
from graphsct.names import nearest

if TYPE_CHECKING:
    from graphsct.pages.tables import Table

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_EXAMPLES = options.examples(
    ("All cases", "graphsct bench"),
    ("Some, quickly", "graphsct bench --cases texas --seconds 2 --threads 1"),
    ("For a machine", "graphsct bench --json"),
)


@app.command(epilog=_EXAMPLES)
def bench(
    cases: Annotated[
        list[str] | None,
        typer.Option(
            help="Time only cases whose names contain this: 'texas', 'gcnii-L32'. May be repeated.",
            show_default="all cases",
        ),
    ] = None,
    threads: Annotated[int, options.threads(default=True)] = 2,
    seconds: Annotated[float, typer.Option(min=0, help="Seconds for each case.")] = 20.0,
    compiled: Annotated[
        bool,
        typer.Option(
            "--compiled", help="Also time PyG under torch.compile, which takes minutes per case."
        ),
    ] = False,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Time full epochs in turns: our own, PyTorch Geometric's, an expert's in plain PyTorch, and
    the bare matrix products.

    Large graphs are left out if their files are not on this machine.
    """
    import torch
    from rich.console import Console

    from graphsct.datasets.load import is_here
    from graphsct.training.bench import CASES, GRAPHS, PEERS, measure, summarize
    from graphsct.training.peers import COMPILED

    options: dict[str, Any] = {"peers": (*PEERS, COMPILED)} if compiled else {}
    here = [case for case in CASES if case.data not in GRAPHS or is_here(case.data)]
    chosen = [case for case in here if not cases or any(part in str(case) for part in cases)]
    if not chosen:
        wanted = " or ".join(map(repr, cases or ()))
        raise GraphsctError(f"no case has {wanted} in its name{nearest(wanted, map(str, here))}")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rows = []
        for number, case in enumerate(chosen, 1):
            with Console(stderr=True).status(f"[{number}/{len(chosen)}] {case}"):
                rows += measure(case, seconds=seconds, **options)
        summary = summarize(rows)
    finally:
        torch.set_num_threads(before)
    if as_json:
        print_json(summary)
        return
    means = (
        f"geometric means, {threads} threads: {summary['speedup_geomean']:.2f}x as fast as PyG "
        f"(at least {summary['speedup_min']:.2f}x) and {summary['expert_geomean']:.2f}x as fast as "
        f"an expert (at least {summary['expert_min']:.2f}x); our epoch takes "
        f"{summary['limit_geomean']:.2f}x as long as the bare products; with control, an epoch "
        f"takes {summary['overhead_geomean']:.2f}x as long, and by our autograd backend "
        f"{summary['autograd_geomean']:.2f}x"
    )
    print_table(_table(rows, means))


@dataclass(frozen=True)
class _Timing:
    """The times of an epoch in milliseconds, and their ratios."""

    case: str
    control: str
    ours: float
    autograd: float
    expert: float
    pyg: float
    speedup: float
    over_expert: float
    over_limit: float
    overhead: float | None


def _table(rows: list[dict[str, Any]], means: str) -> Table[_Timing]:
    from graphsct.pages.tables import Column, Table

    timings = tuple(
        _Timing(
            row["case"],
            row["control"] or "-",
            row["ours_ms"],
            row["autograd_ms"],
            row["expert_ms"],
            row["speedup"] * row["ours_ms"],
            row["speedup"],
            row["over_expert"],
            row["over_limit"],
            row["overhead"],
        )
        for row in rows
    )
    columns: tuple[Column[_Timing], ...] = (
        Column("case", "{case:s}", right=False),
        Column("control", "{control:s}", right=False),
        Column("ours, ms", "{ours:.2f}"),
        Column("by autograd, ms", "{autograd:.2f}"),
        Column("expert, ms", "{expert:.2f}"),
        Column("PyG, ms", "{pyg:.2f}"),
        Column("over PyG", "{speedup:.2f}x"),
        Column("over the expert", "{over_expert:.2f}x"),
        Column("over the limit", "{over_limit:.2f}x"),
        Column("control costs", "{overhead:.2f}x"),
    )
    return Table("Time of an epoch", columns, timings, (means,))
