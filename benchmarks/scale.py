"""The graph of Ogbn-arxiv, with degrees as features: time and memory of an epoch; linear growth.

Against plain PyTorch Geometric with ``edge_index`` and with a sparse adjacency, at 16 layers with
the one that was faster at 4; memory is that of a fresh process that trains our model alone. Before
it nodes, edges and depth are doubled in turn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from graphsct.datasets import csbm, load
from graphsct.datasets.splits import Fractions
from graphsct.training.peers import PYG
from graphsct.training.timing import Case, alternate, make_engine, measure_data

LIMITS = {"memory in GB": 6.0, "speedup": 2.0, "doubling": 2.3}


def load_arxiv() -> Any:
    return load("arxiv_graph", features="degree")


def peak_gigabytes(case: Case) -> float:
    """Most memory of a process that trains one model for three epochs."""
    command = [sys.executable, __file__, "--peak", case.model, str(case.layers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def print_peak(model: str, layers: int) -> None:
    engine = make_engine(Case("arxiv_graph", model, layers, 64), load_arxiv(), control=True)
    for _ in range(3):
        engine.descend()
        engine.validate()
    # What getrusage tells is at least what the process had that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    print(next(int(line.split()[1]) / 1e6 for line in status if line.startswith("VmHWM")))


def epoch_seconds(nodes: int, edges: int, layers: int, repeats: int) -> float:
    split = Fractions(0.5, 0.25, seed=0)
    data = csbm(nodes, edges, num_classes=5, num_features=64, split=split)
    engine = make_engine(Case("csbm", "gcnii", layers, 64), data, control=True)

    def epoch() -> None:
        engine.descend()
        engine.validate()

    return alternate([epoch], 60.0, repeats)[0]


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
    parser.add_argument("--peak", nargs=2, metavar=("MODEL", "LAYERS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        print_peak(options.peak[0], int(options.peak[1]))
        return
    found: dict[str, Any] = {
        "limits": LIMITS,
        "doubling": doubling(options.nodes, 7 * options.nodes, 4, 5),
        "cases": [],
    }
    print(json.dumps(found), file=sys.stderr, flush=True)
    if not options.only_doubling:
        data = load_arxiv()
        for model in options.models:
            peers: tuple[str, ...] = PYG
            for layers in (4, 16):
                case = Case("arxiv_graph", model, layers, 64)
                memory = {"memory in GB": peak_gigabytes(case)}
                rows = measure_data(case, data, seconds=options.seconds, repeats=3, peers=peers)
                peers = (min(peers, key=lambda peer: rows[0][f"{peer}_ms"]),)
                found["cases"] += [row | memory for row in rows]
                print(json.dumps(found["cases"][-2:]), file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
