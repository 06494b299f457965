"""Does a plain bias do what the control does? The runs of a cell, with one in the control's place.

    python benchmarks/bias.py squirrel-gcn-pooled-leaky_relu --out bias.jsonl

The models of the paper have convolutions without bias, so a control also brings them one. This
trains the cell's model with the control ``bias``, one for each channel in every convolution, with
the seeds, splits, settings and rule of the cell, and compares it with the cell and with its base,
which has the settings that were found for it.
Runs that are already in the file are left out, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import graphsct
from graphsct.paper.cell import Cell
from graphsct.paper.keys import base_of
from graphsct.training.metrics import METRICS
from graphsct.training.seeding import seeded
from graphsct.training.seeds import split_of
from graphsct.training.significance import compare_pairs


def train(cell: Cell, data: Any, seed: int) -> float:
    """Test accuracy of one run."""
    settings = cell.settings
    with seeded(seed):
        model = replace(settings.model, control="bias").build(data)
    config, split = replace(settings.train, seed=seed), split_of(data, seed)
    return graphsct.fit(model, data, config, split=split, progress=False).test_score


def accuracies(cell: Cell, seeds: int) -> list[float]:
    """Those of the cell's first seeds."""
    return [run.test_score for run in cell.runs()[:seeds]]


def show(name: str, ours: list[float], others: list[float]) -> None:
    """Print a difference of pairs, in points."""
    found = compare_pairs([100 * a for a in ours], [100 * b for b in others])
    if found is not None:
        print(f"  {name}: {found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}], p {found.p:.2g}")


def main() -> None:
    cells = Cell.read_all()
    named = {key.name: cell for key, cell in cells.items() if key.model == "gcn" and key.control}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("cell", choices=named, metavar="CELL", help="of GCN with control")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, choices=range(1, 11), default=10)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    cell = named[arguments.cell]
    data = graphsct.datasets.load(cell.key.dataset, normalize=cell.settings.normalize)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    rows = [json.loads(line) for line in lines]
    biased = {row["seed"]: row["test_score"] for row in rows if row["cell"] == arguments.cell}
    for seed in range(arguments.seeds):
        if seed not in biased:
            biased[seed] = train(cell, data, seed)
            row = {"cell": arguments.cell, "seed": seed, "test_score": biased[seed]}
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    bias = [biased[seed] for seed in range(arguments.seeds)]
    control = accuracies(cell, arguments.seeds)
    base = accuracies(cells[base_of(cell.key)], arguments.seeds)
    for name, runs in (("control", control), ("bias", bias), ("neither", base)):
        print(f"{name}: {METRICS['accuracy'].show(runs)}")
    show("bias less neither", bias, base)
    show("control less bias", control, bias)


if __name__ == "__main__":
    main()
