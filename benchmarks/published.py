"""Do published settings give published scores? The check of the harness, without any search.

``python benchmarks/published.py run`` trains each model with its authors' settings, ten seeds each,
and writes a line when its runs are over; lines that are there already are not computed again. With
``--control pooled`` or ``--control bias`` the same settings get a control. ``report`` prints the
table beside the published scores.

Both rules that select the epoch are applied to the same runs; the authors' is the loss.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

import graphsct
from graphsct.datasets import load
from graphsct.graph.cache import as_graph
from graphsct.nn.linear import Linear, dropout
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds, split_of

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

    def forward(self, x: torch.Tensor, edge_index: Any) -> torch.Tensor:
        """Scores of all nodes."""
        graph = as_graph(edge_index, None, x)
        for layer, bias in zip(self.layers, self.biases, strict=True):
            if layer is not self.layers[0]:
                x = dropout(x.relu(), self.rate, self.training)
            x = graph.propagate(layer(x)) + bias
        return x


@dataclass(frozen=True)
class Published:
    """A model with its authors' settings.

    Args:
        model: its name
        data: name of the data set
        depth: number of layers
        score: published test score, ``None`` where there is none
        settings: of the model, or of training where their names are those
        scaled: whether the rows of the features are scaled to sum to one
    """

    model: str
    data: str
    depth: int
    score: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    scaled: bool = True

    def build(self, data: Any, control: str | None) -> Callable[[], torch.nn.Module]:
        """How the model is made."""
        own = {k: v for k, v in self.settings.items() if k not in TrainConfig.__annotations__}
        if self.model == "gcn, no dense layers":
            sizes = [data.num_features, *[own["hidden"]] * (self.depth - 1), int(data.y.max()) + 1]
            return lambda: BareGCN(sizes, own["dropout"])
        config = ModelConfig.from_dict(
            {"model": self.model, "depth": self.depth, "control": control, **own}
        )
        return lambda: config.build(data)

    @property
    def train(self) -> dict[str, Any]:
        """The settings of training."""
        return {k: v for k, v in self.settings.items() if k in TrainConfig.__annotations__}


def bare(data: str, depth: int, score: float, hidden: int, rate: float, p: float) -> Published:
    """GCN, as in the record of GCNIII."""
    return Published(
        "gcn, no dense layers",
        data,
        depth,
        score,
        dict(hidden=hidden, dropout=p, learning_rate=rate, dense_weight_decay=5e-4),
        scaled=False,
    )


def gcnii(data: str, depth: int, score: float | None = None) -> Published:
    """GCNII, settings of its authors; they leave the heterophilic graphs directed."""
    hidden, alpha, theta, p, decays = {
        "cora": (64, 0.1, 0.5, 0.6, (0.01, 5e-4)),
        "citeseer": (256, 0.1, 0.6, 0.7, (0.01, 5e-4)),
        "pubmed": (256, 0.1, 0.4, 0.5, (5e-4, 5e-4)),
        "physics": (64, 0.1, 0.5, 0.8, (5e-4, 5e-4)),
        "chameleon": (64, 0.2, 1.5, 0.5, (5e-4, 5e-4)),
        "cornell": (64, 0.5, 1.0, 0.5, (1e-3, 1e-3)),
        "texas": (64, 0.5, 1.5, 0.5, (1e-4, 1e-4)),
        "wisconsin": (64, 0.5, 1.0, 0.5, (5e-4, 5e-4)),
    }[data]
    settings = dict(
        hidden=hidden,
        alpha=alpha,
        theta=theta,
        dropout=p,
        conv_dropout=p,
        learning_rate=0.01,
        conv_weight_decay=decays[0],
        dense_weight_decay=decays[1],
    )
    return Published("gcnii", data, depth, score, settings)


def egnn(data: str, depth: int) -> Published:
    """EGNN, settings of its authors."""
    p, rate, c_min, offset, decay = {
        "cora": (0.6, 0.005, 0.2 if depth < 32 else 0.15, -10.0, 5e-4),
        "pubmed": (0.5, 0.01, 0.12 if depth < 32 else 0.11, -10.0, 5e-4),
        "physics": (0.6, 0.005, 0.12, -5.0, 5e-5),
    }[data]
    settings = dict(
        hidden=64,
        c_min=c_min,
        beta=c_min if data == "pubmed" else 0.1,
        offset=offset,
        dropout=p,
        learning_rate=rate,
        conv_weight_decay=0.0,
        dense_weight_decay=decay,
        options={"output_dropout": 0.0} if data == "pubmed" else {},
    )
    return Published("egnn", data, depth, None, settings)


def appnp(data: str, score: float) -> Published:
    """APPNP with eight steps, settings of the benchmark of PyTorch Geometric."""
    settings = dict(hidden=64, dropout=0.5, learning_rate=0.01, dense_weight_decay=5e-4)
    return Published("appnp", data, 8, score, settings)


#: With a score that others got in several runs.
ANCHORS = (
    bare("cora", 3, 81.9, 512, 0.001, 0.7),
    appnp("cora", 83.3),
    appnp("citeseer", 71.8),
    bare("citeseer", 2, 71.8, 512, 0.001, 0.5),
    appnp("pubmed", 80.1),
    bare("pubmed", 2, 79.5, 256, 0.005, 0.7),
    gcnii("cora", 64, 85.2),
    gcnii("citeseer", 32, 72.8),
    gcnii("pubmed", 16, 79.8),
)
#: The paper's cells with their authors' settings, the cheap ones first.
OTHERS = (
    *(gcnii(*found) for found in (("cornell", 16), ("texas", 32), ("wisconsin", 16))),
    gcnii("chameleon", 8),
    *(gcnii("cora", depth) for depth in (2, 4, 16, 32)),
    *(egnn("cora", depth) for depth in (2, 4, 16, 32)),
    *(gcnii("citeseer", depth) for depth in (2, 4, 16)),
    *(egnn("pubmed", depth) for depth in (2, 4, 16, 32)),
    *(gcnii("pubmed", depth) for depth in (2, 4, 32)),
    *(make("physics", depth) for depth in (2, 4, 16, 32) for make in (gcnii, egnn)),
)


def measure(case: Published, control: str | None, seeds: int) -> dict[str, Any]:
    """The test scores of all seeds, by each rule."""
    began = time.perf_counter()
    data = load(case.data, normalize=case.scaled)
    build = case.build(data, control)
    models = [model for _ in RULES for model in build_seeds(build, range(seeds))]
    configs = [
        TrainConfig(select=rule, seed=seed, **case.train) for rule in RULES for seed in range(seeds)
    ]
    splits = [split_of(data, config.seed) for config in configs]
    runs = graphsct.fit_many(models, data, configs, splits=splits)
    return {
        **name(case, control),
        "published": case.score,
        "seconds": round(time.perf_counter() - began),
        **{
            rule: [100 * run.test_score for run in runs if run.config.select == rule]
            for rule in RULES
        },
        "epochs": [run.epochs for run in runs],
    }


def name(case: Published, control: str | None) -> dict[str, Any]:
    """What tells a line from others."""
    return {"model": case.model, "data": case.data, "depth": case.depth, "control": control}


def report(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    for row in rows:
        what = f"{row['model']}, {row['data']}, {row['depth']} layers, {row['control'] or 'plain'}"
        shown = [
            f"{statistics.fmean(row[rule]):.1f} ± {statistics.stdev(row[rule]):.1f}"
            for rule in RULES
        ]
        published = "" if row["published"] is None else f"   published {row['published']}"
        print(f"{what:52} by loss {shown[0]}, by metric {shown[1]}{published}")


def main() -> None:
    """Measure all cases, or print those there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/published.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--control")
    parser.add_argument("--anchors", action="store_true", help="only those with a known score")
    settings = parser.parse_args()
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    settings.out.touch()
    rows = [json.loads(line) for line in settings.out.read_text().splitlines()]
    if settings.what == "report":
        report(rows)
        return
    for case in ANCHORS if settings.anchors else (*ANCHORS, *OTHERS):
        own = name(case, settings.control)
        if any(own.items() <= row.items() for row in rows):
            continue
        row = measure(case, settings.control, settings.seeds)
        report([row])
        with settings.out.open("a") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
