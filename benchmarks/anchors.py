"""Do published settings give published scores? The check of the harness, without any search.

``python benchmarks/anchors.py run`` trains GCN without dense layers and APPNP with published
settings, ten seeds each, and writes a line when its runs are over; lines that are there already are
not computed again. ``report`` prints the table beside the published scores. Those of GCNII and EGNN
are a table of their own: ``graphsct reproduce authors``.

Both rules that select the epoch are applied to the same runs; the authors' is the loss.
"""

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

import graphsct
from graphsct.datasets import load
from graphsct.graph.cache import as_graph
from graphsct.nn.linear import Linear, dropout
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds

RULES = ("val_loss", "val_score")


class BareGCN(torch.nn.Module):
    """GCN without dense layers around it, with dropout after each activation."""

    def __init__(self, sizes: list[int], rate: float) -> None:
        super().__init__()
        layers = [Linear(*pair, bias=False) for pair in pairwise(sizes)]
        for layer in layers:
            torch.nn.init.xavier_uniform_(layer.weight)
        self.layers = torch.nn.ModuleList(layers)
        self.biases = torch.nn.ParameterList(torch.zeros(size) for size in sizes[1:])
        self.rate = rate
        self._dense = self._csr = torch.empty(0)

    def forward(self, x: torch.Tensor, edge_index: Any) -> torch.Tensor:
        """Scores of all nodes."""
        graph = as_graph(edge_index, None, x)
        x = self._sparse(x)
        for layer, bias in zip(self.layers, self.biases, strict=True):
            if layer is not self.layers[0]:
                x = dropout(x.relu(), self.rate, self.training)
            x = graph.propagate(layer(x)) + bias
        return x

    def _sparse(self, x: torch.Tensor) -> torch.Tensor:
        """Bags of words are mostly zeros: as CSR they take a tenth of the time."""
        if x is not self._dense:
            self._dense, self._csr = x, x.to_sparse_csr()
        return self._csr


@dataclass(frozen=True)
class Published:
    """A model with published settings.

    Args:
        model: its name
        data: name of the data set
        depth: number of layers
        score: published test score, the mean of ten runs
        settings: of the model
        train: of training
    """

    model: str
    data: str
    depth: int
    score: float
    settings: dict[str, Any]
    train: dict[str, Any]

    @property
    def name(self) -> dict[str, Any]:
        """What tells a line from others."""
        return {"model": self.model, "data": self.data, "depth": self.depth}

    def build(self, data: Any) -> torch.nn.Module:
        """Make the model."""
        if self.model == "appnp":
            return ModelConfig("appnp", depth=self.depth, **self.settings).build(data)
        hidden, classes = self.settings["hidden"], int(data.y.max()) + 1
        sizes = [data.num_features, *[hidden] * (self.depth - 1), classes]
        return BareGCN(sizes, self.settings["dropout"])


def bare(data: str, depth: int, score: float, hidden: int, rate: float, p: float) -> Published:
    """GCN, as in the record of GCNIII, whose features have rows that sum to one."""
    train = dict(learning_rate=rate, dense_weight_decay=5e-4)
    return Published(
        "gcn, no dense layers", data, depth, score, dict(hidden=hidden, dropout=p), train
    )


def appnp(data: str, score: float) -> Published:
    """APPNP with eight steps, in the same record."""
    train = dict(learning_rate=0.01, dense_weight_decay=5e-4)
    return Published("appnp", data, 8, score, dict(hidden=64, dropout=0.5), train)


ANCHORS = (
    appnp("cora", 83.3),
    appnp("citeseer", 71.8),
    appnp("pubmed", 80.1),
    bare("citeseer", 2, 71.8, 512, 0.001, 0.5),
    bare("pubmed", 2, 79.5, 256, 0.005, 0.7),
    bare("cora", 3, 81.9, 512, 0.001, 0.7),
)


def measure(case: Published, seeds: int) -> dict[str, Any]:
    """The test scores of all seeds, by each rule."""
    began = time.perf_counter()
    data = load(case.data, normalize=True)
    models = [m for _ in RULES for m in build_seeds(partial(case.build, data), range(seeds))]
    configs = [
        TrainConfig(select=rule, seed=seed, **case.train) for rule in RULES for seed in range(seeds)
    ]
    runs = graphsct.fit_many(models, data, configs)
    return {
        **case.name,
        "published": case.score,
        "seconds": round(time.perf_counter() - began),
        **{
            rule: [100 * run.test_score for run in runs if run.config.select == rule]
            for rule in RULES
        },
        "epochs": [run.epochs for run in runs],
    }


def report(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    for row in rows:
        what = f"{row['model']}, {row['data']}, {row['depth']} layers"
        shown = [
            f"{statistics.fmean(row[rule]):.1f} ± {statistics.stdev(row[rule]):.1f}"
            for rule in RULES
        ]
        print(
            f"{what:42} by loss {shown[0]}, by metric {shown[1]}   published {row['published']}",
            flush=True,
        )


def main() -> None:
    """Measure all cases, or print those there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/anchors.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    settings = parser.parse_args()
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    settings.out.touch()
    rows = [json.loads(line) for line in settings.out.read_text().splitlines()]
    if settings.what == "report":
        report(rows)
        return
    for case in ANCHORS:
        if not any(case.name.items() <= row.items() for row in rows):
            row = measure(case, settings.seeds)
            report([row])
            with settings.out.open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
