"""Does a plain bias do what the control does? The runs of a cell, with one in the control's place.

    python benchmarks/bias.py squirrel-gcn-pooled-leaky_relu --out bias.jsonl

The models of the paper have convolutions without bias, so a control also brings them one. This
trains the cell's model without control and with a bias for each channel in every convolution, with
the seeds, splits, settings and rule of the cell, and compares it with the cell and with its base.
Runs that are already in the file are left out, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import graphsct
from graphsct.experiments.cell import Cell, Key, read_cells
from graphsct.experiments.plan import base_of
from graphsct.experiments.tables.significance import compare_pairs
from graphsct.training.trial import seeded


def train(cell: Cell, seed: int) -> float:
    """Test accuracy of one run, in percent."""
    settings = cell.settings
    data = graphsct.datasets.load(cell.key.dataset, normalize=settings.normalize)
    with seeded(seed):
        model: Any = replace(settings.model, control=None).build(data)
    for conv in model.convs:
        conv.bias = torch.nn.Parameter(torch.zeros(settings.model.hidden))
    split = next(run["split"] for run in cell.runs() if run["seed"] == seed)
    config = replace(settings.train, seed=seed)
    return 100 * graphsct.fit(model, data, config, split=split, progress=False).test_accuracy


def show(name: str, ours: list[float], others: list[float]) -> None:
    """Print a difference of pairs."""
    found = compare_pairs(ours, others)
    if found is not None:
        print(f"  {name}: {found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}], p {found.p:.2g}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("cell", help="a cell of GCN with control, by the name of its file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    cells: dict[Key, Cell] = read_cells()
    cell = next(cell for key, cell in cells.items() if key.name == arguments.cell)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    rows = [json.loads(line) for line in lines]
    biased = {row["seed"]: row["test_accuracy"] for row in rows if row["cell"] == arguments.cell}
    for seed in range(arguments.seeds):
        if seed not in biased:
            biased[seed] = train(cell, seed)
            row = {"cell": arguments.cell, "seed": seed, "test_accuracy": biased[seed]}
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    bias = [biased[seed] for seed in range(arguments.seeds)]
    control = cell.accuracies()[: arguments.seeds]
    base = cells[base_of(cell.key)].accuracies()[: arguments.seeds]
    for name, runs in (("control", control), ("bias", bias), ("neither", base)):
        print(f"{name}: {statistics.fmean(runs):.1f} ± {statistics.stdev(runs):.1f}")
    show("bias less neither", bias, base)
    show("control less bias", control, bias)


if __name__ == "__main__":
    main()
