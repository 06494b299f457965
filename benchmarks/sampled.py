"""What training on samples costs in accuracy, as reported in docs/howto/large.md.

    python benchmarks/sampled.py run --data cora --seeds 5 --epochs 60 --out sampled.jsonl
    python benchmarks/sampled.py run --data arxiv_like --seeds 3 --epochs 30 --out sampled.jsonl
    python benchmarks/sampled.py table --out sampled.jsonl

Runs that are already in the file are left out, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.utils import k_hop_subgraph

from graphsct import Graph, datasets
from graphsct.nn import GCN

LAYERS, HOPS, LEARNING_RATE, DENSE_DECAY, DROPOUT = 4, 2, 0.01, 5e-4, 0.5
HIDDEN = {"cora": 64, "arxiv_like": 16}


@dataclass(frozen=True)
class Run:
    """One training.

    Args:
        sampler: ``whole``, ``nodes`` (all nodes in random parts) or ``hops`` (some training nodes
            and all within two hops)
        size: number of parts, or of training nodes a batch
        graph: ``kept`` if a batch keeps degrees and components, ``own`` if it has only its own
    """

    data: str
    control: str | None
    sampler: str
    size: int
    graph: str
    epochs: int
    seed: int


def plan(data: str, epochs: int, seeds: int) -> Iterator[Run]:
    small = data == "cora"
    ways = [("nodes", 2), ("nodes", 8), ("hops", 20)] if small else [("nodes", 4), ("nodes", 16)]
    for seed in range(seeds):
        for control in (None, "pooled", "gated") if small else ("gated",):
            yield Run(data, control, "whole", 1, "kept", epochs, seed)
            for sampler, size in ways:
                yield Run(data, control, sampler, size, "kept", epochs, seed)
                if small and control == "gated":  # 'pooled' has no weights for other components
                    yield Run(data, control, sampler, size, "own", epochs, seed)


def batches(run: Run, data: Any, train: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Nodes of each batch of an epoch, and which of them the loss counts."""
    if run.sampler == "hops":
        chosen = train.nonzero().squeeze(1)
        for seeds in torch.split(chosen[torch.randperm(len(chosen))], run.size):
            nodes, _, where, _ = k_hop_subgraph(
                seeds, HOPS, data.edge_index, num_nodes=data.num_nodes
            )
            counted = torch.zeros(len(nodes), dtype=torch.bool)
            counted[where] = True
            yield nodes, counted
    else:
        for nodes in torch.randperm(data.num_nodes).chunk(run.size):
            if train[nodes].any():
                yield nodes, train[nodes]


def rows(x: Tensor, nodes: Tensor) -> Tensor:
    """Features of some nodes, sparse as they were."""
    if x.layout == torch.strided:
        return x[nodes]
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    some = csr_array(parts, shape=x.shape)[nodes.numpy()]
    starts, columns, values = map(torch.from_numpy, (some.indptr, some.indices, some.data))
    return torch.sparse_csr_tensor(starts, columns, values, size=some.shape)


def graph_of(run: Run, whole: Graph, nodes: Tensor) -> Graph:
    part = whole.subgraph(nodes)
    if run.graph == "kept":
        return part
    loops = torch.arange(len(nodes)).repeat(2, 1)  # a graph without any edge is refused
    return Graph(torch.cat([part.edge_index, loops], dim=1), len(nodes))


def train(run: Run, data: Any, x: Tensor) -> dict[str, float]:
    """Adam on batches; validated on the whole graph, whose best epoch gives the test accuracy."""
    torch.manual_seed(run.seed)
    whole, split = data.graph, data.splits[0]
    model = GCN(
        x.shape[1],
        HIDDEN[run.data],
        data.num_classes,
        LAYERS,
        control=run.control,
        num_components=whole.num_components,
        dropout=DROPOUT,
    )
    optimizer = torch.optim.Adam(model.param_groups(dense_weight_decay=DENSE_DECAY), LEARNING_RATE)
    best, largest = (-1.0, 0.0), 0
    for _ in range(run.epochs):
        model.train()
        if run.sampler == "whole":
            steps = iter([(torch.arange(len(x)), split.train)])
        else:
            steps = batches(run, data, split.train)
        for nodes, counted in steps:
            largest = max(largest, len(nodes))
            graph = whole if run.sampler == "whole" else graph_of(run, whole, nodes)
            features = x if run.sampler == "whole" else rows(x, nodes)
            optimizer.zero_grad()
            scores = model(features, graph)
            F.cross_entropy(scores[counted], data.y[nodes][counted]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(x, whole).argmax(1) == data.y).double()
        if (val := right[split.val].mean().item()) > best[0]:
            best = val, right[split.test].mean().item()
    return {"val": best[0], "test": best[1], "largest": largest / len(x)}


def measure(name: str, epochs: int, seeds: int, out: Path) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    data = datasets.load(name)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {json.dumps(entry["run"]) for entry in read(out)}
    for run in plan(name, epochs, seeds):
        if json.dumps(asdict(run)) not in done:
            result = train(run, data, data.x)
            with out.open("a") as file:
                file.write(json.dumps({"run": asdict(run), **result}) + "\n")


def table(out: Path) -> str:
    found: dict[tuple[str, ...], list[dict[str, float]]] = defaultdict(list)
    for entry in read(out):
        run = Run(**entry["run"])
        sampler = run.sampler if run.sampler == "whole" else f"{run.sampler} {run.size}"
        key = run.data, run.control or "none", sampler, run.graph, str(run.epochs)
        found[key].append(entry)
    heads = ["data", "control", "batches", "degrees", "epochs", "largest batch", "test"]
    lines = [heads, ["---"] * len(heads)]
    for settings, entries in found.items():
        tests = [100 * entry["test"] for entry in entries]
        spread = statistics.stdev(tests) if len(tests) > 1 else 0.0
        share = f"{100 * max(entry['largest'] for entry in entries):.0f} %"
        lines.append(
            [*settings, share, f"{statistics.mean(tests):.1f} ± {spread:.1f} ({len(tests)})"]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--data", choices=["cora", "arxiv_like"], default="cora")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/sampled.jsonl"))
    given = parser.parse_args()
    if given.what == "run":
        measure(given.data, given.epochs, given.seeds, given.out)
    else:
        print(table(given.out))


if __name__ == "__main__":
    main()
