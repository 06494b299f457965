"""``graphsct reproduce``: a table of the paper beside our numbers, or its cells run again."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json

if TYPE_CHECKING:
    from graphsct.paper.cell import Key
    from graphsct.paper.paper import PaperTable
    from graphsct.paper.plan import Choice
    from graphsct.paper.reproduce import Budget, Outcome

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
    ("What is counted, as Markdown", "graphsct reproduce sizes --markdown"),
)


def _tables(incomplete: str) -> list[tuple[str, str]]:
    """Names of tables for a shell, with what they show."""
    from graphsct.paper.paper import tables

    found = list(tables().values())
    named = [(f"table{table.number}", table.title) for table in found]
    named += [(table.name, table.title) for table in found]
    return [(name, title) for name, title in named if name.startswith(incomplete)]


def _models() -> list[str]:
    from graphsct.paper.paper import MODELS

    return list(MODELS)


@app.command(epilog=_EXAMPLES)
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            help="table1 to table11, a name such as depth, or term.", autocompletion=_tables
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            "--data",
            "--dataset",
            help="Some data sets: cora,texas.",
            autocompletion=options.lists_of(options.OF_THE_PAPER),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Some of gcn, gcnii and egnn.", autocompletion=options.lists_of(_models)),
    ] = None,
    depth: Annotated[str | None, typer.Option(help="Some numbers of convolutions: 2,4.")] = None,
    control: Annotated[
        str | None,
        typer.Option(help="Only none, or only sct.", autocompletion=options.among(("none", "sct"))),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Only show what there is, run nothing.")
    ] = False,
    seeds: Annotated[int | None, options.seeds(default="10; 3 of a term")] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Search each cell's settings anew, with so many trials."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="No new trial of a cell after so many; time for each timing."),
    ] = None,
    max_hidden: Annotated[
        int | None, typer.Option(help="Most channels that a search tries.", show_default="128")
    ] = None,
    finalists: Annotated[int, options.finalists()] = 0,
    workers: Annotated[int, options.workers()] = 1,
    ray: Annotated[str | None, options.ray()] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the cells.",
            show_default=f"{_OUT}; with --report those that come with graphsct",
        ),
    ] = None,
    work: Annotated[Path, typer.Option(help="Folder of searches and runs under way.")] = _WORK,
    root: Annotated[Path | None, options.root()] = None,
    threads: Annotated[int | None, options.threads()] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, options.as_json()] = False,
) -> None:
    """Show a table of the paper beside our numbers (--report), or run its cells on this machine,
    with the settings that come with graphsct or with new ones (--trials). What was done before is
    not done again; the same command goes on after an interruption.

    The table 'term' is ours: it looks into cells with SCT and shows what the learned term does.
    """
    import torch

    from graphsct.paper.cell import PACKAGED
    from graphsct.paper.paper import find_table
    from graphsct.paper.plan import TRAINED, Choice
    from graphsct.paper.reproduce import Budget
    from graphsct.paper.tables import TERM
    from graphsct.paper.times import TIMED

    if threads is not None:
        torch.set_num_threads(threads)
    choice = Choice.parse(dataset, model, depth, control)
    good, folder = True, out or (PACKAGED if report else _OUT)
    found = None if table == TERM else find_table(table)
    if found is None:
        good = report or _look(choice, seeds or 3, folder, work, root)
    elif found.name in TRAINED and not report:
        budget = Budget(seeds or 10, trials, seconds, max_hidden, workers, ray, finalists)
        good = _run(found, choice.keys(found), budget, folder, work, root)
    elif found.name in TIMED and not report:
        _time(found, seconds, folder, root)
    _show(table, choice, folder, root, markdown, as_json)
    if not good:
        raise typer.Exit(1)


def _show(
    table: str,
    choice: Choice,
    folder: Path,
    root: Path | None,
    markdown: bool,
    as_json: bool,
) -> None:
    from graphsct.errors import ExperimentError
    from graphsct.paper.tables import build
    from graphsct.paper.tables.render import show, to_markdown

    built = build(table, cells=folder, root=root).only(
        lambda row: choice.takes(*(row.get(key) for key in ("dataset", "model", "sct", "depth")))
    )
    if not built.rows:
        if built.paper is not None:
            raise choice.nothing_left(built.paper)
        raise ExperimentError(
            f"no term of such cells has been measured in {folder}; leave --report out to do it"
        )
    if as_json:
        print_json(built.to_dict())
    elif markdown:
        typer.echo(to_markdown(built))
    else:
        show(built)


def _time(table: PaperTable, seconds: float | None, out: Path, root: Path | None) -> None:
    """Measure times, and say each on standard error."""
    from graphsct.paper.cell import read_cells
    from graphsct.paper.times import measure_times

    cells = {**read_cells(), **read_cells(out)}
    load, limit = _loader(root), 20.0 if seconds is None else seconds
    for row in measure_times(table, cells, load=load, out=out, seconds=limit):
        control = row["control"] or "none"
        _say(f"{row['data']}-{row['model']}-{control}: {row['ours_ms']:.2f} ms an epoch")


def _look(choice: Choice, seeds: int, out: Path, work: Path, root: Path | None) -> bool:
    """Measure terms, say on standard error what becomes of each; whether none of them failed."""
    from graphsct.errors import ExperimentError
    from graphsct.paper.cell import read_cells
    from graphsct.paper.term import measure_terms

    cells = [
        cell
        for key, cell in {**read_cells(), **read_cells(out)}.items()
        if key.control
        and not cell.borrowed
        and choice.takes(key.dataset, key.model, True, key.depth)
    ]
    if not cells:
        raise ExperimentError(
            "no cell with SCT whose settings are known is left by these choices; run some first, "
            "for instance with 'graphsct reproduce table1 --trials 20'"
        )
    good, terms = True, measure_terms(cells, seeds, load=_loader(root), out=out, work=work)
    try:
        for number, measured in enumerate(terms, start=1):
            what = "measured" if measured.term else f"failed: {measured.reason}"
            _say(f"[{number}/{len(cells)}] {measured.key.name}: {what}")
            good = good and measured.term is not None
    except KeyboardInterrupt:
        _say(f"interrupted: the same command goes on; the terms that are done are in {out}")
        raise typer.Exit(130) from None
    return good


def _run(
    table: PaperTable,
    keys: list[Key],
    budget: Budget,
    out: Path,
    work: Path,
    root: Path | None,
) -> bool:
    """Run cells, say on standard error what becomes of each; whether none of them failed."""
    from graphsct.datasets.load import is_here
    from graphsct.paper.cell import read_cells
    from graphsct.paper.estimate import estimate
    from graphsct.paper.reproduce import is_done, run_cells

    load, there = _loader(root), read_cells(out)
    known = {**read_cells(), **there}
    todo = [key for key in keys if not is_done(there.get(key), budget)]
    # It is large, and not downloaded unasked; the others are.
    absent = [key for key in todo if key.dataset == "arxiv" and not is_here("arxiv", root)]
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
    from graphsct.training.seeds import percent

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


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else str(timedelta(seconds=round(seconds)))


def _say(line: str) -> None:
    typer.echo(line, err=True)
