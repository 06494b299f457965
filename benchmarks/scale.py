"""The graph of Ogbn-arxiv, with random features: time and memory of an epoch; linear growth.

Against plain PyTorch Geometric with ``edge_index`` and with a sparse adjacency, at 16 layers with
the one that was faster at 4; memory is that of a fresh process that trains our model alone. Before
it nodes, edges and depth are doubled in turn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from graphsct.datasets import csbm
from graphsct.datasets.splits import Fractions
from graphsct.training.bench import (
    CONFIG,
    Case,
    make_engine,
    make_model,
    measure_data,
    open_case,
    our_epoch,
)
from graphsct.training.peers import PYG, peer_epoch
from graphsct.training.timing import alternate

LIMITS = {"memory in GB": 6.0, "speedup": 2.0, "doubling": 2.3}


def peak_gigabytes(case: Case, whose: str = "ours", *, control: bool = False) -> float:
    """Most memory of a process that trains our model or a peer's for three epochs."""
    words = [json.dumps(case), whose, str(int(control))]
    command = [sys.executable, __file__, "--peak", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def print_peak(case: Case, whose: str, control: bool) -> None:
    data = open_case(case)
    model = make_model(case, data, control)
    ours = whose == "ours"
    epoch = our_epoch(model, data) if ours else peer_epoch(whose, model, data, CONFIG)
    for _ in range(3):
        epoch()
    # What getrusage tells is at least what the process had that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    print(next(int(line.split()[1]) / 1e6 for line in status if line.startswith("VmHWM")))


def epochs(nodes: int, edges: int, case: Case, control: bool) -> Callable[[], None]:
    """A function that trains on a made-up graph for an epoch."""
    split = Fractions(0.5, 0.25, seed=0)
    data = csbm(nodes, edges, num_classes=5, num_features=64, split=split)
    engine = make_engine(case, data, control)

    def epoch() -> None:
        engine.descend()
        engine.validate()

    return epoch


def epoch_seconds(nodes: int, edges: int, layers: int, repeats: int) -> float:
    job = epochs(nodes, edges, Case("csbm", "gcnii", layers, 64), True)
    return alternate([job], 60.0, repeats)[0]


def growth(sizes: Sequence[int], seconds: float) -> dict[str, float]:
    """Seconds of an epoch of GCN with 4 layers of 64 channels, by the number of nodes, each with
    ten neighbours on average; all sizes in turns.
    """
    jobs = [epochs(n, 5 * n, Case("csbm", "gcn", 4, 64), False) for n in sizes]
    return dict(zip(map(str, sizes), alternate(jobs, seconds, 30), strict=True))


def doubling(nodes: int, edges: int, layers: int, repeats: int) -> dict[str, float]:
    """Time of twice the nodes and edges, edges or layers, over the time of once."""
    one = epoch_seconds(nodes, edges, layers, repeats)
    return {
        "nodes and edges": epoch_seconds(2 * nodes, 2 * edges, layers, repeats) / one,
        "edges": epoch_seconds(nodes, 2 * edges, layers, repeats) / one,
        "layers": epoch_seconds(nodes, edges, 2 * layers, repeats) / one,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=100_000, help="of the graph to be doubled")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each comparison")
    parser.add_argument("--only-doubling", action="store_true")
    parser.add_argument("--models", nargs="+", default=["gcn", "gcnii"], choices=["gcn", "gcnii"])
    parser.add_argument(
        "--peak", nargs=3, metavar=("CASE", "WHOSE", "CONTROL"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        case, whose, control = options.peak
        print_peak(Case(*json.loads(case)), whose, control == "1")
        return
    found: dict[str, Any] = {
        "limits": LIMITS,
        "doubling": doubling(options.nodes, 7 * options.nodes, 4, 5),
        "cases": [],
    }
    print(json.dumps(found), file=sys.stderr, flush=True)
    if not options.only_doubling:
        data = open_case(Case("arxiv_graph", "gcn", 4, 64))
        for model in options.models:
            peers: tuple[str, ...] = PYG
            for layers in (4, 16):
                case = Case("arxiv_graph", model, layers, 64)
                memory = {"memory in GB": peak_gigabytes(case, control=True)}
                rows = measure_data(case, data, seconds=options.seconds, repeats=3, peers=peers)
                peers = (min(peers, key=lambda peer: rows[0][f"{peer}_ms"]),)
                found["cases"] += [row | memory for row in rows]
                print(json.dumps(found["cases"][-2:]), file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
