r"""The demo: the effects of depth and of a shift on features of the built-in graph.

The network has random weights, :math:`\mathbf H^{l} = \sigma(\mathbf G \mathbf H^{l-1} \mathbf
W^l)` with ReLU and He's initialisation, and random features at its bottom.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphsct import geometry
from graphsct.files import write_csv, write_json
from graphsct.graph import Graph
from graphsct.paper.example import example_graph
from graphsct.plotting.saving import to_columns
from graphsct.smoothness import normalized_smoothness
from graphsct.smoothness.summary import Summary, summarize

__all__ = ["Control", "Report", "control_layer", "run_demo", "run_network", "write_report"]

DEPTHS = (0, 1, 2, 4, 8, 16, 32)
DIMENSIONS = 32
CONTROLLED_LAYER = 8
TARGET = 0.5


@dataclass(frozen=True)
class Control:
    """The reach of a shift of one layer's input to ReLU, and one target that it reaches.

    Args:
        layer: the number of the layer
        target: the wanted normalized smoothness of every dimension
        lower: the smallest that all dimensions can reach
        upper: the largest that all dimensions can reach
        before: summary of the output without a shift
        after: summary of the output with it
        largest_error: of the normalized smoothness, over all dimensions
    """

    layer: int
    target: float
    lower: float
    upper: float
    before: Summary
    after: Summary
    largest_error: float


@dataclass(frozen=True)
class Report:
    """Summaries of a random network by depth, and the control of one of its layers."""

    graph: Graph
    seed: int
    depth: dict[int, Summary]
    control: Control

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they go into the JSON file."""
        return {
            "graph": {
                "num_nodes": self.graph.num_nodes,
                "num_edges": self.graph.num_edges,
                "num_components": self.graph.num_components,
            },
            "seed": self.seed,
            "depth": [{"layers": n, **asdict(found)} for n, found in self.depth.items()],
            "control": asdict(self.control),
        }


def run_network(graph: Graph, layers: int, seed: int = 0) -> list[Tensor]:
    """Random features, then the input of ReLU in every layer; shape: ``(n, 32)`` each."""
    generator = torch.Generator().manual_seed(seed)
    gain = (2 / DIMENSIONS) ** 0.5
    h = torch.randn(graph.num_nodes, DIMENSIONS, dtype=graph.dtype, generator=generator)
    inputs = [h]
    for _ in range(layers):
        weight = gain * torch.randn(DIMENSIONS, DIMENSIONS, dtype=h.dtype, generator=generator)
        inputs.append(graph.propagate(h) @ weight)
        h = inputs[-1].relu()
    return inputs


def control_layer(z: Tensor, graph: Graph, layer: int, target: float) -> Control:
    """Shift the input ``z`` of a ReLU, shape ``(n, d)``, so that its output gets the target."""
    reach = geometry.smoothness_range(z, graph, "relu")
    alpha = geometry.solve_alpha(z, graph, target, "relu")
    output = (z - graph.unpool(alpha)).relu()
    return Control(
        layer=layer,
        target=target,
        lower=reach.lower.max().item(),
        upper=reach.upper.min().item(),
        before=summarize(z.relu(), graph),
        after=summarize(output, graph),
        largest_error=(normalized_smoothness(output, graph) - target).abs().max().item(),
    )


def run_demo(seed: int = 0) -> Report:
    """Measure the network at all depths and control one layer."""
    graph = example_graph(seed)
    inputs = run_network(graph, max(DEPTHS), seed)
    features = [inputs[0], *(z.relu() for z in inputs[1:])]
    return Report(
        graph=graph,
        seed=seed,
        depth={n: summarize(features[n], graph) for n in DEPTHS},
        control=control_layer(inputs[CONTROLLED_LAYER], graph, CONTROLLED_LAYER, TARGET),
    )


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write everything as JSON and the table by depth as CSV."""
    paths = [folder / "report.json", folder / "report.csv"]
    content = report.as_dict()
    write_json(paths[0], content)
    write_csv(paths[1], to_columns(content["depth"]))
    return paths
