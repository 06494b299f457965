"""What the core costs on a large graph, as ratios to the named peer in the same run.

    python benchmarks/core.py [--nodes 1000000] [--edges 10000000] [--width 64] [--repeats 5]

Ours and the peer alternate; each ratio is one of medians. Memory is the growth of the process's
peak while a measure runs, in units of the features' size. The last lines say what doubling nodes
and edges costs.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from graphsct import Graph, geometry, smoothness

MEASURES: dict[str, Callable[[torch.Tensor, Graph], Any]] = {
    "project": lambda x, graph: graph.project(x),
    "normalized_smoothness": smoothness.normalized_smoothness,
    "dirichlet_energy": smoothness.dirichlet_energy,
    "normalized_dirichlet_energy": smoothness.normalized_dirichlet_energy,
    "distance_to_eigenspace": smoothness.distance_to_eigenspace,
    "effective_rank": lambda x, graph: smoothness.effective_rank(x),
}
LIMITS = {
    "build / scipy build + components": 2.0,
    "project / clone": 6.0,
    "normalized_smoothness / clone": 6.0,
    "dirichlet_energy / spmm": 1.5,
    "solve_alpha / sort": 10.0,
    "effective_rank / svd": 0.5,
    "error of effective_rank": 1e-6,
    **{f"memory of {name} / size of x": 2.0 for name in MEASURES},
    **{f"doubling: {name}": 2.3 for name in ("build", *MEASURES)},
}


def random_edges(nodes: int, edges: int, seed: int = 0) -> torch.Tensor:
    """Both directions of random edges, in random order as they would come from a file."""
    generator = torch.Generator().manual_seed(seed)
    half = torch.randint(nodes, (2, edges), generator=generator)
    both = torch.cat([half, half.flip(0)], dim=1)
    return both[:, torch.randperm(2 * edges, generator=generator)]


def scipy_build(edge_index: torch.Tensor, nodes: int) -> None:
    """The peer of building a Graph: adjacency and components, nothing checked or normalised."""
    row, col = edge_index.numpy()
    value = np.ones(len(row), dtype=np.float32)
    matrix = csr_array((value, (row, col)), shape=(nodes, nodes))
    connected_components(matrix, directed=False)


def alternate(repeats: int, *jobs: Callable[[], Any]) -> list[float]:
    """Median seconds of each job, taken in turns after one warm-up."""
    times: list[list[float]] = [[] for _ in jobs]
    for turn in range(repeats + 1):
        for job, collected in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            if turn:
                collected.append(time.perf_counter() - start)
    return [statistics.median(collected) for collected in times]


def resident() -> int:
    """Bytes of memory this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def peak_memory(job: Callable[[], Any]) -> int:
    """Most memory the process had while the job ran, above what it had before."""
    gc.collect()
    before = peak = resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.0005):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    job()
    done.set()
    watcher.join()
    return peak - before


def measure(nodes: int, edges: int, width: int, repeats: int) -> dict[str, float]:
    """Ratios to the peers on one graph."""
    edge_index = random_edges(nodes, edges)
    ratios = {}
    ours, theirs = alternate(
        repeats, lambda: Graph(edge_index, nodes), lambda: scipy_build(edge_index, nodes)
    )
    ratios["build / scipy build + components"] = ours / theirs
    graph = Graph(edge_index, nodes)
    x = torch.randn(nodes, width)
    for name, peer_name, peer in [
        ("project", "clone", x.clone),
        ("normalized_smoothness", "clone", x.clone),
        ("dirichlet_energy", "spmm", lambda: torch.sparse.mm(graph.matrix, x)),
    ]:
        ours, theirs = alternate(repeats, lambda name=name: MEASURES[name](x, graph), peer)  # type: ignore[misc]
        ratios[f"{name} / {peer_name}"] = ours / theirs
    size = x.numel() * x.element_size()
    for name, job in MEASURES.items():
        peak = peak_memory(lambda job=job: job(x, graph))  # type: ignore[misc]
        ratios[f"memory of {name} / size of x"] = peak / size
    return ratios


def measure_alpha(nodes: int, width: int, repeats: int) -> dict[str, float]:
    """The shift for every dimension against one sort of the features."""
    graph = Graph(random_edges(nodes, 5 * nodes), nodes)
    z = torch.randn(nodes, width)
    ours, theirs = alternate(
        repeats, lambda: geometry.solve_alpha(z, graph, 0.7), lambda: z.sort(dim=0)
    )
    return {"solve_alpha / sort": ours / theirs}


def measure_rank(nodes: int, width: int, repeats: int) -> dict[str, float]:
    """The effective rank of float32 features of small and large directions against a singular
    value decomposition in float64, and their relative difference.
    """
    x = torch.randn(nodes, width) * torch.logspace(0, -4, width)

    def dense() -> torch.Tensor:
        sigma = torch.linalg.svdvals(x.double())
        rank: torch.Tensor = torch.special.entr(sigma / sigma.sum()).sum().exp()
        return rank

    ours, theirs = alternate(repeats, lambda: smoothness.effective_rank(x), dense)
    error = smoothness.effective_rank(x) / dense() - 1
    return {"effective_rank / svd": ours / theirs, "error of effective_rank": abs(error.item())}


def measure_doubling(nodes: int, edges: int, width: int, repeats: int) -> dict[str, float]:
    """Twice the nodes and edges against once."""
    times = []
    for factor in (1, 2):
        n = nodes * factor
        edge_index = random_edges(n, edges * factor)
        graph, x = Graph(edge_index, n), torch.randn(n, width)
        jobs: list[Callable[[], Any]] = [lambda n=n, e=edge_index: Graph(e, n)]  # type: ignore[misc]
        jobs += [lambda job=job, x=x, g=graph: job(x, g) for job in MEASURES.values()]  # type: ignore[misc]
        times.append(alternate(repeats, *jobs))
    names = ["build", *MEASURES]
    return {f"doubling: {k}": b / a for k, a, b in zip(names, *times, strict=True)}


def show(ratios: dict[str, float], *, quiet: bool) -> dict[str, float]:
    """Print each ratio with its limit, unless told not to."""
    for name, ratio in ratios.items():
        if not quiet:
            print(f"{name:55s} {ratio:7.2g}   limit {LIMITS[name]:.2g}", flush=True)
    return ratios


def main() -> None:
    """Print every ratio with its limit, as a table or as one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    size = options.nodes, options.edges, options.width, options.repeats
    ratios: dict[str, float] = {}
    with torch.no_grad():
        ratios |= show(measure(*size), quiet=options.json)
        ratios |= show(measure_alpha(options.nodes // 10, *size[2:]), quiet=options.json)
        ratios |= show(measure_rank(options.nodes, *size[2:]), quiet=options.json)
        ratios |= show(measure_doubling(*size), quiet=options.json)
    if options.json:
        print(json.dumps({"limits": LIMITS, "ratios": ratios}))


if __name__ == "__main__":
    main()
