"""``graphsct bench``: the time of an epoch, ours and that of PyTorch Geometric."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json
from graphsct.errors import GraphsctError

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
            help="Part of a case's name, such as 'texas' or 'gcnii-L32'; all if left out."
        ),
    ] = None,
    threads: Annotated[int, options.threads(default=True)] = 2,
    seconds: Annotated[float, typer.Option(min=0, help="Time for each case.")] = 20.0,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Time full epochs side by side: ours, PyTorch Geometric's, and the bare matrix products."""
    import torch

    from graphsct.training.timing import CASES, measure, summarize

    chosen = [c for c in CASES if not cases or any(part in str(c) for part in cases)]
    if not chosen:
        raise GraphsctError(
            f"no case has {cases} in its name; there are {', '.join(map(str, CASES))}"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rows = []
        for case in chosen:
            for row in measure(case, seconds=seconds):
                rows.append(row)
                if not as_json:
                    typer.echo(_line(row))
        summary = summarize(rows)
    finally:
        torch.set_num_threads(before)
    if as_json:
        print_json(summary)
        return
    typer.echo(
        f"geometric means, {threads} threads: {summary['speedup_geomean']:.2f}x faster than PyG "
        f"(least {summary['speedup_min']:.2f}x), control costs {summary['overhead_geomean']:.2f}x, "
        f"{summary['limit_geomean']:.2f}x the bare products"
    )


def _line(row: dict[str, Any]) -> str:
    theirs = min(row["pyg_edge_index_ms"], row["pyg_sparse_ms"])
    overhead = f"control {row['overhead']:.2f}x" if row["overhead"] else ""
    return (
        f"{row['case']:24s} {row['control'] or '-':7s} ours {row['ours_ms']:8.2f} ms   "
        f"PyG {theirs:8.2f} ms   {row['speedup']:5.2f}x   limit {row['over_limit']:4.2f}x   "
        f"{overhead}"
    ).rstrip()
