"""Does a control help a deep network that nobody tunes? Half of the question of remedies/wins.py.

    python benchmarks/untuned.py run --out results/untuned.jsonl [--data cora] [--depth 16 32]
    python benchmarks/untuned.py report --out results/untuned.jsonl

The rules, fixed before the first run: the first setting of the leaderboard's budget (learning rate
0.01, dropout 0.5, weight decay 0.0005, the usual value of the control's own number), width 64, at
most 200 epochs, patience 100, the epoch of the best validation metric, ten seeds, which are also
the numbers of the splits where there are several. Nothing is chosen by a score. The first command
runs the deep cells of every control and of none, the shallow ones first, writes a line for each
run, and repeats neither the networks that are there nor the stored ones. The second adds the runs
to those in graphsct-results and writes the tables of both experiments, tuned and untuned, into
docs/smoothness.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from page import fill
from runs import add_lines, read_lines, read_stored, store

from graphsct.datasets import load
from graphsct.errors import DivergedError
from graphsct.extras import stored_results
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell, BoardKey
from graphsct.remedies.budget import base_model, budget_of
from graphsct.remedies.packed import read_packed
from graphsct.remedies.wins import CONTROLS, DATA, DEPTHS, UNTUNED, planned, read_untuned, win_table
from graphsct.training.many import fit_many
from graphsct.training.scored_run import ScoredRun
from graphsct.training.seeds import build_seeds, split_of

PAGE = Path(__file__).parents[1] / "docs/smoothness.md"
SEEDS = range(10)
COLUMNS = (*BoardKey._fields, "metric", *ScoredRun.__dataclass_fields__)


def networks(names: list[str] | None, depths: list[int] | None) -> Iterator[BoardKey]:
    """The networks with each control and with none, none and the shallow ones first."""
    keys = {key for control in CONTROLS for key in planned(control)}
    keys |= {key._replace(remedy="none") for key in keys}
    order = ("none", *CONTROLS)
    for key in sorted(keys, key=lambda k: (k.depth, k.model, k.data, order.index(k.remedy))):
        if (not names or key.data in names) and (not depths or key.depth in depths):
            yield key


def train(key: BoardKey, data: Any) -> Iterator[dict[str, Any]]:
    """The lines of a network, one per seed; scores are missing where the weights diverged."""
    remedy = REMEDIES[key.remedy]
    setting = budget_of(remedy)[0]
    model, own = remedy.configure(
        base_model(key.model, key.depth, setting.dropout), setting.train(), setting.value
    )
    models = build_seeds(lambda: model.build(data), SEEDS)
    configs = [replace(own, seed=seed, select="val_score") for seed in SEEDS]
    splits = [split_of(data, seed) for seed in SEEDS]
    common = {**key._asdict(), "metric": getattr(data, "metric", None) or "accuracy"}
    start = time.perf_counter()
    try:
        runs = fit_many(models, data, configs, splits=splits)
    except DivergedError:
        yield from ({**common, "select": "val_score", "seed": seed} for seed in SEEDS)
        return
    seconds = round((time.perf_counter() - start) / len(runs), 2)
    for run, split in zip(runs, splits, strict=True):
        yield {**common, **asdict(ScoredRun.of(run, split)), "seconds": seconds}


def run(path: Path, names: list[str] | None, depths: list[int] | None) -> None:
    """Train the networks that are not in the file yet."""
    there = {tuple(row[name] for name in BoardKey._fields) for row in read_lines(path)}
    there |= {cell.key for cell in read_untuned()}
    for key in networks(names, depths):
        if key not in there:
            own = list(train(key, load(key.data)))
            add_lines(path, own)  # all seeds of a network at once
            print(*key, f"{own[0].get('seconds', 'diverged')} s per run", flush=True)


def scores(cells: list[BoardCell]) -> str:
    """A table of the untuned test scores: a row for each network that has all controls."""
    names = ("none", *CONTROLS)
    found = {cell.key: cell for cell in cells}
    lines = [
        "### Untuned: test scores",
        "",
        f"| data, model, layers | {' | '.join(REMEDIES[name].title for name in names)} |",
        "| --- " + "| ---: " * len(names) + "|",
    ]
    for base in sorted(key for key in found if key.remedy == "none"):
        row = [found.get(base._replace(remedy=name)) for name in names]
        if all(row):
            shown = " | ".join(cell.show() if cell.runs else "diverged" for cell in row if cell)
            lines.append(f"| {base.title}, {base.depth} | {shown} |")
    return "\n".join(lines)


def report(path: Path) -> None:
    """Store the runs and write the tables of the page."""
    stored = stored_results("remedies") / UNTUNED
    rows = read_stored(stored, {"depth": int, "seed": int}) + read_lines(path)
    store(stored, rows, COLUMNS, (*BoardKey._fields, "seed"))
    tables = (
        win_table(read_packed(), "Tuned: 8 settings each"),
        win_table(read_untuned(), "Untuned: the first of these settings"),
    )
    text = "\n\n".join([scores(read_untuned()), *(table.to_markdown(3) for table in tables)])
    print(text)
    fill(PAGE, {"wins": text})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/untuned.jsonl"))
    parser.add_argument("--data", nargs="*", choices=DATA, help="some of the data sets")
    parser.add_argument("--depth", nargs="*", type=int, choices=DEPTHS, help="some of the depths")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.action == "run":
        run(given.out, given.data, given.depth)
    else:
        report(given.out)


if __name__ == "__main__":
    main()
