"""One graph on one and two processes: time, memory and bytes of an epoch, and what they grow with.

The graph of Ogbn-arxiv and made-up ones are partitioned on disk and trained with control by as many
processes, one thread each, on this machine. Every row gives the largest time, memory and halo of
any process.

    python benchmarks/distributed.py --out src/graphsct/distributed/measured.json

measures everything, appends row by row, skips what is there, and then compares the cost model with
the rows that were held out of its fit. ``--only`` takes rows by a part of their name.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

from graphsct.datasets import csbm, load
from graphsct.datasets.splits import Fractions
from graphsct.files import write_json

EPOCHS = 4


class Row(NamedTuple):
    """A graph, a model and a number of processes."""

    why: str
    nodes: int
    edges: int
    depth: int
    width: int
    model: str = "gcn"
    processes: int = 1
    features: int = 64
    held_out: bool = False
    components: int = 1
    method: str = "contiguous"

    @property
    def name(self) -> str:
        sizes = f"{self.nodes // 1000}k-{self.edges // 1000}k-L{self.depth}-d{self.width}"
        return f"{self.why}-{self.model}-{sizes}-p{self.processes}"


def rows() -> list[Row]:
    """One graph, each of its sizes doubled, both models; two processes have twice the graph.

    So all arrays of features are over 32 MB, from where on each is given back to the system when it
    is free. Smaller ones are reused, and two to three times as fast. The ``arxiv`` of two processes
    has such arrays; it is shown and not used.
    """
    found = []
    for processes in (1, 2):
        nodes, edges = 200_000 * processes, 1_000_000 * processes
        base = Row("base", nodes, edges, 2, 64, "gcn", processes)
        found += [
            base,
            base._replace(why="edges", edges=2 * edges),
            base._replace(why="depth", depth=4),
            base._replace(why="width", width=128),
            base._replace(model="gcnii"),
        ]
        if processes == 1:
            found += [base._replace(why="nodes", nodes=400_000)]
            found += [base._replace(why="all", nodes=400_000, edges=2_000_000, features=128)]
    for processes in (1, 2):
        other = Row("", 200_000, 1_000_000, 2, 64, "gcn", processes, held_out=True)
        found += [
            other._replace(why="components", components=1000),
            other._replace(why="arxiv", nodes=169_343, edges=1_157_799, depth=4),
            other._replace(why="held", nodes=600_000, edges=3_000_000, depth=3, width=96),
            other._replace(why="large", nodes=2_000_000, edges=20_000_000),
        ]
    arxiv = next(row for row in found if row.why == "arxiv" and row.processes == 2)
    return [*found, arxiv._replace(why="arxiv-metis", method="metis")]


def measure(row: Row, folder: Path) -> dict[str, Any]:
    """Partition the graph of a row and train on it, in processes of their own."""
    from graphsct.distributed import write_partition

    if row.why.startswith("arxiv"):
        data = load("arxiv_graph", features="degree")
    else:
        split = Fractions(0.5, 0.25, seed=0)
        data = csbm(
            row.nodes,
            row.edges,
            num_classes=10,
            num_features=row.features,
            num_components=row.components,
            split=split,
        )
    place = folder / row.name
    write_partition(data, place, row.processes, method=row.method)
    classes, features = data.num_classes, data.num_features
    del data
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(row.processes), __file__, "--worker", str(place)]
    command += ["--model", row.model, "--depth", str(row.depth), "--width", str(row.width)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    job = {"nodes": row.nodes, "edges": found.pop("edges"), "depth": row.depth, "width": row.width}
    job |= {"features": features, "classes": classes, "model": row.model}
    about = {"name": row.name, "why": row.why, "held_out": row.held_out}
    return {**about, "job": job, "processes": row.processes, **found}


def worker(options: argparse.Namespace) -> None:
    """One of the processes; the first prints what all have measured."""
    from graphsct.distributed import Part
    from graphsct.distributed.backend import Distributed
    from graphsct.distributed.collectives import gather, joined, rank
    from graphsct.nn import MODELS
    from graphsct.training import ModelConfig, TrainConfig

    torch.set_num_threads(1)
    with joined(600.0):
        part = Part.load(options.worker)
        control = MODELS[options.model].default_control
        config = ModelConfig(
            model=options.model, control=control, depth=options.depth, hidden=options.width
        )
        torch.manual_seed(0)
        model: Any = config.build(part)
        backend = Distributed([model], [part.data()], [TrainConfig()], part=part)
        seconds = []
        for _ in range(EPOCHS):
            sent = part.graph.traffic.halo + part.graph.traffic.pooled
            started = time.perf_counter()
            backend.descend()
            backend.validate()
            seconds.append(time.perf_counter() - started)
        sent = part.graph.traffic.halo + part.graph.traffic.pooled - sent
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        piece = part.layout.parts[rank()]
        own = [statistics.median(seconds[1:]), memory, sent, piece.nodes, piece.entries, piece.halo]
        everyone = torch.stack(gather(torch.tensor(own, dtype=torch.float64))).max(dim=0).values
        if rank() == 0:
            *measured, nodes, entries, halo = everyone.tolist()
            found = dict(zip(("seconds", "bytes", "sent"), measured, strict=True))
            found["sent_per_layer"] = found["sent"] / (3 * options.depth)
            found["share"] = {"nodes": nodes, "entries": entries, "halo": halo}
            found["edges"] = part.layout.edges
            print(json.dumps(found))


def compare(path: Path) -> None:
    """Print what the cost model says of each row, and what was measured."""
    from graphsct.distributed.cost import Machine, Measurement, fit_prices, quote

    epochs = json.loads(path.read_text(encoding="utf-8"))["epochs"]
    measured = [Measurement.from_dict(values) for values in epochs]
    if all(row.held_out for row in measured):
        return
    fitted = fit_prices(row for row in measured if not row.held_out)
    for row in measured:
        found = quote(row.job, row.processes, Machine(gigabits=None), own=row.share, at=fitted)
        time_off = sum(found.seconds.values()) / row.seconds - 1
        memory_off = sum(found.bytes.values()) / row.bytes - 1
        mark = "held out" if row.held_out else "fitted"
        print(
            f"{row.name:44} {mark:9} {row.seconds:7.2f} s {time_off:+5.0%}   "
            f"{row.bytes / 1e9:6.2f} GB {memory_off:+5.0%}   "
            f"{row.sent_per_layer / 1e6:7.1f} MB per layer"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/distributed.json"))
    parser.add_argument("--only", default="", help="part of a row's name")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--depth", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--width", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options)
        return
    found = json.loads(options.out.read_text()) if options.out.exists() else {"epochs": []}
    there = {row["name"] for row in found["epochs"]}
    for row in rows():
        if not options.report and options.only in row.name and row.name not in there:
            with tempfile.TemporaryDirectory() as folder:
                found["epochs"].append(measure(row, Path(folder)))
            options.out.parent.mkdir(parents=True, exist_ok=True)
            write_json(options.out, found)
            print(json.dumps(found["epochs"][-1]), flush=True)
    compare(options.out)


if __name__ == "__main__":
    main()
