"""The built-in graph of the paper's section 4.1 and of the demo."""

from __future__ import annotations

import numpy as np
import torch

from graphsct.errors import ExperimentError
from graphsct.extras import require
from graphsct.graph import Graph

__all__ = ["MAX_DEGREE", "MIN_DEGREE", "NUM_NODES", "example_graph"]

NUM_NODES = 100
MIN_DEGREE, MAX_DEGREE = 2, 10


def example_graph(seed: int = 0) -> Graph:
    """A connected random simple graph of 100 nodes with degrees between 2 and 10, in float64.

    Uniform degrees and a graph with these degrees are drawn until the graph is connected.
    """
    if seed < 0:
        raise ExperimentError(f"the seed is {seed}; seeds are integers from 0")
    nx = require("networkx", "plot")
    rng = np.random.default_rng(seed)
    while True:
        degrees = rng.integers(MIN_DEGREE, MAX_DEGREE, size=NUM_NODES, endpoint=True).tolist()
        if not nx.is_graphical(degrees):
            continue
        try:
            drawn = nx.random_degree_sequence_graph(degrees, seed=int(rng.integers(2**32)))
        except nx.NetworkXError:  # it got stuck, which is rare
            continue
        if nx.is_connected(drawn):
            return Graph.from_networkx(drawn, dtype=torch.float64)
