"""Which smoothness is best? The experiment of docs/smoothness.md.

    python benchmarks/smoothness.py run --out results/smoothness.jsonl [--data actor]
    python benchmarks/smoothness.py report --out results/smoothness.jsonl

The first command trains networks whose layers have the wanted smoothness t exactly: all layers, or
the last one alone, or all with a learned t; and the plain network with the same settings and first
weights. It goes through all networks with one seed before it takes the next, writes a line for each
run, and repeats neither the lines that are there nor the stored runs. The second one adds the lines
to the runs in graphsct-results and writes the table and the figure of the page.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from page import fill
from runs import add_lines, read_lines, read_stored, store

from graphsct import fit
from graphsct.datasets import csbm, load
from graphsct.datasets.assemble import describe
from graphsct.extras import stored_results
from graphsct.graph.cache import graph_of
from graphsct.nn.model import Model
from graphsct.paper.figures import write_figure
from graphsct.remedies.wanted import RUNS, Panel, read_panels, verdicts
from graphsct.smoothness import normalized_smoothness
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds

DOCS = Path(__file__).parents[1] / "docs"
# Fixed before the first run.
WANTED = (0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
HOMOPHILY = (0.1, 0.3, 0.5, 0.7, 0.9)
SEEDS = range(10)
TRAIN = TrainConfig(
    epochs=100, patience=100, conv_weight_decay=5e-4, dense_weight_decay=5e-4, learning_rate=0.01
)
BOARDS = [
    *itertools.product(("cora", "citeseer", "chameleon_filtered"), (2, 8)),
    # Added when the others had been run with three seeds and more.
    *itertools.product(("squirrel_filtered", "actor", "minesweeper"), (2, 8)),
    ("pubmed", 2),
    *itertools.product((f"csbm-{share}" for share in HOMOPHILY), (2, 8)),
]
KEY = ("data", "depth", "layers", "target", "seed")
NETWORKS = [
    ("none", None),
    *itertools.product(("all",), WANTED),
    *itertools.product(("last",), WANTED),
    ("learned", None),
]


def open_data(name: str) -> Any:
    """A data set, or a graph of the contextual stochastic block model with a given homophily."""
    kind, _, share = name.partition("-")
    return csbm(homophily=float(share), seed=0) if kind == "csbm" else load(name)


def build(data: Any, depth: int, layers: str, target: float | None) -> Model:
    """A network, some of whose layers have the wanted smoothness."""
    options: dict[str, Any] = {}
    if layers != "none":
        own = {"source": "learned"} if layers == "learned" else {"target": target}
        options = {"control_options": own}
    control = None if layers == "none" else "target"
    config = ModelConfig("gcn", control, depth, 64, dropout=0.5, options=options)
    model = config.build(data)
    assert isinstance(model, Model)
    if layers == "last":
        for conv in model.convs[:-1]:
            setattr(conv, "control", None)  # noqa: B010, a Module to mypy
    return model


@torch.no_grad()
def smoothness(model: Any, data: Any) -> list[float]:
    """The mean smoothness of the channels of every layer that are not zero."""
    graph, found = graph_of(data), []

    def measure(module: Any, given: Any, output: torch.Tensor) -> None:
        alive = output[:, output.abs().amax(0) > 0]
        found.append(normalized_smoothness(alive, graph).mean().item() if alive.numel() else 1.0)

    hooks = [each.register_forward_hook(measure) for each in model.activations[1:]]
    model.eval()(data.x, data.edge_index)
    for hook in hooks:
        hook.remove()
    return [round(value, 4) for value in found]


def stored() -> list[dict[str, Any]]:
    """The runs in graphsct-results."""
    numbers = {"depth": int, "target": float, "seed": int}
    return read_stored(stored_results("smoothness") / RUNS, numbers)


def run(path: Path, seeds: list[int], names: list[str] | None) -> None:
    """Train what is neither stored nor in the file yet."""
    there = {tuple(row[name] for name in KEY) for row in stored() + read_lines(path)}
    for seed, (name, depth) in itertools.product(seeds, BOARDS):
        if names and name not in names:
            continue
        data = open_data(name)
        split = seed % len(data.splits) if len(data.splits) > 1 else None
        for layers, target in NETWORKS:
            key = (name, depth, layers, target, seed)
            if key in there:
                continue
            start = time.perf_counter()
            (model,) = build_seeds(lambda: build(data, depth, layers, target), [seed])  # noqa: B023
            result = fit(model, data, replace(TRAIN, seed=seed), split=split, progress=False)
            row: dict[str, Any] = dict(zip(KEY, key, strict=True))
            row |= {"test": result.test_score, "val": result.val_score}
            row |= {"smoothness": smoothness(model, data)}
            row |= {"seconds": round(time.perf_counter() - start, 1)}
            add_lines(path, [row])


def report(path: Path) -> None:
    """Store the runs, and write the table and the figure of the page."""
    rows = stored()
    share = {row["data"]: row["homophily"] for row in rows}
    for row in read_lines(path):
        if row["data"] not in share:
            share[row["data"]] = f"{describe(open_data(row['data'])).homophily:.3f}"
        mean = f"{statistics.fmean(row['smoothness']):.4f}"
        rows.append({**row, "smoothness": mean, "homophily": share[row["data"]]})
    rows.sort(key=lambda row: BOARDS.index((row["data"], row["depth"])))
    names = (*KEY, "test", "val", "smoothness", "homophily")
    store(stored_results("smoothness") / RUNS, rows, names, KEY)
    table = _tables(read_panels())
    print(table)
    fill(DOCS / "smoothness.md", {"table": table})
    for picture in write_figure(5, DOCS / "images"):
        if picture.suffix != ".png":
            picture.unlink()


def _tables(panels: list[Panel]) -> str:
    """A line for each data set and depth, twice; validation chooses the best and the worst t."""
    gains = [
        "| data | homophily | layers | seeds | plain | best t | with it | gain | effect |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    others = [
        "| data | homophily | layers | plain: its s | worst t | with it | best t, last layer "
        "| with it | learned t | it ends at |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for panel, verdict in zip(panels, verdicts(panels), strict=True):
        plain, learned, curve = panel.plain, panel.networks["learned", None], panel.curve()
        (t, best), (late, last) = panel.best(), panel.best("last")
        worst = min(curve, key=lambda t: curve[t].val)
        gain = best.gain(plain)
        assert gain is not None
        place = f"| {panel.title.partition(',')[0]} | {panel.homophily:.2f} | {panel.depth} "
        gains.append(
            f"{place}| {len(plain.test)} | {plain} | {t:g} | {best} "
            f"| {gain.mean:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}] "
            f"| {verdict.replace('no difference shown', '-')} |"
        )
        others.append(
            f"{place}| {plain.smoothness:.2f} | {worst:g} | {curve[worst]} | {late:g} | {last} "
            f"| {learned} | {learned.smoothness:.2f} |"
        )
    return "\n".join([*gains, "", *others])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/smoothness.jsonl"))
    parser.add_argument("--seeds", type=int, nargs="*", default=[*SEEDS])
    names = list(dict.fromkeys(name for name, _ in BOARDS))
    parser.add_argument("--data", nargs="*", choices=names, help="only these graphs")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.action == "run":
        run(given.out, given.seeds, given.data)
    else:
        report(given.out)


if __name__ == "__main__":
    main()
