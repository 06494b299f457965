"""How exact distances in float32 are on large graphs, and what that costs.

    python benchmarks/distances.py [--largest 1000000] [--repeats 15]

Each graph is a path with three random edges a node. The features are smooth, 1e-4 away from that,
or random; the expected distance is computed in extended precision from the same float32 features
and the edges alone. Errors are shares of the features' norm. The peer adds up in float32, as one
product each, and alternates with ours; the ratio is one of medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from core import alternate
from torch import Tensor

from graphsct import Graph, smoothness

ROUGH = {"smooth": 0.0, "1e-4 away": 1e-4, "random": None}
LIMIT, TIME_LIMIT = 1e-6, 1.3


def edges_of(nodes: int) -> Tensor:
    """Each edge once, in any direction."""
    path = torch.arange(nodes - 1)
    more = torch.randint(nodes, (2, 3 * nodes), generator=torch.Generator().manual_seed(0))
    edges = torch.cat([torch.stack([path, path + 1]), more], dim=1)
    low, high = edges.amin(0), edges.amax(0)
    once: Tensor = torch.unique(torch.stack([low, high])[:, low < high], dim=1)
    return once


def exact_basis(edges: Tensor, nodes: int) -> npt.NDArray[np.longdouble]:
    """The one column of the basis in extended precision; shape: ``(n, 1)``."""
    degree = 1 + np.bincount(edges.numpy().reshape(-1), minlength=nodes)
    root = np.sqrt(degree.astype(np.longdouble))[:, None]
    return root / np.sqrt(np.square(root).sum())  # type: ignore[no-any-return]


def features(basis: npt.NDArray[np.longdouble], rough: float | None, width: int) -> Tensor:
    """Features of norm one, in float32; shape: ``(n, width)``."""
    random = np.random.default_rng(0).standard_normal((len(basis), width))
    if rough is None:
        return torch.from_numpy((random / np.linalg.norm(random)).astype(np.float32))
    other = random - basis * (basis * random).sum(0)
    smooth = basis * np.ones(width) / np.sqrt(width)
    x = smooth + rough * other / np.linalg.norm(other.astype(np.float64))
    return torch.from_numpy(x.astype(np.float32))


def exact_distance(basis: npt.NDArray[np.longdouble], x: Tensor) -> float:
    """The distance to the eigenspace in extended precision."""
    whole = x.numpy().astype(np.longdouble)
    return float(np.sqrt(np.square(whole - basis * (basis * whole).sum(0)).sum()))


def plain(graph: Graph) -> dict[str, Callable[[Tensor], Tensor]]:
    """Pooling and projection on a connected graph, with sums in the features' precision."""
    q = graph.basis
    return {"pool": lambda x: q @ x, "project": lambda x: q.unsqueeze(1) * (q @ x).unsqueeze(0)}


def measure(nodes: int, repeats: int, width: int) -> None:
    """Print the lines of one size."""
    edges = edges_of(nodes)
    graph = Graph(edges, nodes, symmetrize=True, dtype=torch.float32)
    basis, naive = exact_basis(edges, nodes), plain(graph)
    for name, rough in ROUGH.items():
        x = features(basis, rough, width)
        expected = exact_distance(basis, x)
        norm = torch.linalg.vector_norm(x.double()).item()
        found = smoothness.distance_to_eigenspace(x, graph).item()
        peer = torch.linalg.vector_norm((x - naive["project"](x)).double()).item()
        print(
            f"{nodes:>9} {name:10} {expected / norm:13.6e} {found / norm:13.6e} "
            f"{abs(found - expected) / norm:8.1e} {abs(peer - expected) / norm:8.1e}"
        )
    for name, peer_job in naive.items():
        job = getattr(graph, name)
        ours, theirs = alternate(repeats, partial(job, x), partial(peer_job, x))
        print(f"{nodes:>9} {name:10} {1e3 * ours:7.2f} ms, {ours / theirs:.2f} of the peer's time")


def main() -> None:
    """Print the table and the limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--width", type=int, default=8)
    options = parser.parse_args()
    print(f"limits: errors below {LIMIT:g}, times below {TIME_LIMIT:g}")
    print("    nodes features        expected      float32    error     peer")
    nodes = 1000
    with torch.no_grad():
        while nodes <= options.largest:
            measure(nodes, options.repeats, options.width)
            nodes *= 10


if __name__ == "__main__":
    main()
