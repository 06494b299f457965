"""``graphsct reproduce``: a table of the paper beside our numbers, or its cells run again."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from graphsct.experiments.cell import Cell, Key
    from graphsct.experiments.paper import PaperTable
    from graphsct.experiments.reproduce import Budget, Outcome

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_OUT = Path("results/reproduce")
_WORK = Path("results/reproduce/work")


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help="table1 to table11, or a name such as depth.")],
    dataset: Annotated[str | None, typer.Option(help="Some data sets: cora,texas.")] = None,
    model: Annotated[str | None, typer.Option(help="Some of gcn, gcnii and egnn.")] = None,
    depth: Annotated[str | None, typer.Option(help="Some depths: 2,4.")] = None,
    control: Annotated[str | None, typer.Option(help="Only none, or only sct.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of a cell; of sets with ten splits, one a split.")
    ] = 10,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Search each cell's settings anew, as many as this."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="No new trial of a cell after so many.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the cells.", show_default=str(_OUT))
    ] = None,
    work: Annotated[Path, typer.Option(help="Folder of searches and runs under way.")] = _WORK,
    root: Annotated[Path | None, typer.Option(help="Folder with the raw files.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Of PyTorch.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Only show the cells there are, run nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run cells of a table of the paper with the settings that come with graphsct, or with new
    ones (--trials), and show them beside the paper's. What was done before is not done again.
    """
    import torch

    from graphsct.experiments.cell import read_cells
    from graphsct.experiments.paper import find_table
    from graphsct.experiments.plan import Choice
    from graphsct.experiments.reproduce import Budget

    if threads is not None:
        torch.set_num_threads(threads)
    found = find_table(table)
    choice = Choice.parse(dataset, model, depth, control)
    keys = choice.keys(found)
    good = True
    if not report:
        known = {**read_cells(), **read_cells(out or _OUT, keys)}
        good = _run(found, keys, Budget(seeds, trials, seconds), known, out or _OUT, work, root)
    if not good:
        raise typer.Exit(1)


def _run(
    table: PaperTable,
    keys: list[Key],
    budget: Budget,
    known: dict[Key, Cell],
    out: Path,
    work: Path,
    root: Path | None,
) -> bool:
    """Run cells, say on standard error what becomes of each; whether none of them failed."""
    from graphsct.experiments.cell import read_cells
    from graphsct.experiments.estimate import estimate
    from graphsct.experiments.reproduce import is_done, run_cells

    load = _loader(root)
    there = read_cells(out, keys)
    todo = [key for key in keys if not is_done(there.get(key), budget)]
    absent = [key for key in todo if not _is_here(key.dataset, root)]
    todo = [key for key in todo if key not in absent]
    _say(f"table {table.number} ({table.name}): {len(todo)} cells to run, {len(keys)} in all")
    if absent:
        _say(
            f"left out: {len(absent)} cells of Ogbn-arxiv, whose files are not here; see "
            "'graphsct data list' for where they belong"
        )
    if not todo:
        return not absent
    _say(
        f"about {_duration(estimate(todo, budget, load=load, known=known))}; stop it when you like"
    )
    good, outcomes = (
        True,
        run_cells(
            todo, budget, load=load, known=known, out=out, work=work, table=f"table{table.number}"
        ),
    )
    started = time.perf_counter()
    try:
        for number, outcome in enumerate(outcomes, start=1):
            spent = _duration(time.perf_counter() - started)
            _say(f"[{number}/{len(todo)}, {spent}] {_line(outcome)}")
            good = good and outcome.cell is not None
    except KeyboardInterrupt:
        _say(f"interrupted: the same command goes on; the cells that are done are in {out}")
        raise typer.Exit(130) from None
    return good


def _line(outcome: Outcome) -> str:
    from graphsct.cli.results import percent

    if outcome.cell is None:
        return f"{outcome.key.name}: failed: {outcome.reason}"
    parts = []
    for rule in dict.fromkeys(run["select"] for run in outcome.cell.results):
        shares = [run["test_accuracy"] for run in outcome.cell.runs(rule)]
        parts.append(f"{percent(shares)} ({len(shares)} runs, {rule})")
    return f"{outcome.key.name}: {', '.join(parts)}"


def _loader(root: Path | None) -> Callable[[str, bool], Any]:
    from functools import lru_cache

    from graphsct import datasets

    @lru_cache(maxsize=1)
    def load(name: str, normalize: bool) -> Any:
        return datasets.load(name, root, normalize=normalize)

    return load


def _is_here(dataset: str, root: Path | None) -> bool:
    """Ogbn-arxiv is large, and is not downloaded unasked; the others are."""
    from graphsct.datasets import raw, store
    from graphsct.datasets.catalog import find
    from graphsct.datasets.places import data_root

    if dataset != "arxiv":
        return True
    entry = find(dataset)
    return raw.locate(entry, data_root(root)) is not None or store.path_for(entry, None).is_file()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else str(timedelta(seconds=round(seconds)))


def _say(line: str) -> None:
    typer.echo(line, err=True)
