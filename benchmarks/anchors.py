"""Do published settings give published scores? The check of the harness, without any search.

    python benchmarks/anchors.py run [--data cora]
    python benchmarks/anchors.py report

``run`` trains each model with published settings, ten seeds or splits each, and writes into
docs/anchors.json when its runs are over; what is there already is not run again. ``report`` writes
the table into docs/reproduce.md, with the models of ``graphsct reproduce authors`` that others have
repeated. Both rules that select the epoch are applied to the same runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from page import fill

import graphsct
from graphsct.datasets import load
from graphsct.extras import stored_results
from graphsct.files import write_text
from graphsct.graph.cache import as_graph
from graphsct.nn.linear import Linear, dropout
from graphsct.paper.author_settings import author_cells, repeated_score
from graphsct.paper.cell import Cell
from graphsct.paper.paper import MODELS, TITLES
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds, split_of

DOCS = Path(__file__).parents[1] / "docs"
PAGE, RESULT = DOCS / "reproduce.md", DOCS / "anchors.json"
RULES = ("val_loss", "val_score")
SEEDS = range(10)
#: How far our mean may be from the published one, in points.
CLOSE = 0.4


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
class Anchor:
    """A model with published settings.

    Args:
        model: its name in the table
        data: name of the data set
        depth: number of layers
        published: mean and standard deviation of its test score, ten runs
        rule: the rule by which its authors select the epoch
        settings: of one of our models
        bare: width and dropout of a GCN without dense layers, which has no settings
        train: of training
        normalize: divide each row of the features by its sum
    """

    model: str
    data: str
    depth: int
    published: tuple[float, float]
    rule: str = "val_loss"
    settings: dict[str, Any] = field(default_factory=dict)
    bare: tuple[int, float] | None = None
    train: dict[str, Any] = field(default_factory=dict)
    normalize: bool = True

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.model}, {self.data}, {self.depth} layers"

    def build(self, data: Any) -> torch.nn.Module:
        """Make the model."""
        if self.bare is None:
            return ModelConfig(depth=self.depth, **self.settings).build(data)
        hidden, rate = self.bare
        classes = int(data.y.max()) + 1
        return BareGCN([data.num_features, *[hidden] * (self.depth - 1), classes], rate)


def bare(
    data: str, depth: int, published: tuple[float, float], hidden: int, rate: float, p: float
) -> Anchor:
    """GCN, in the record of GCNIII."""
    train = dict(learning_rate=rate, dense_weight_decay=5e-4)
    return Anchor("GCN, no dense layers", data, depth, published, bare=(hidden, p), train=train)


def appnp(data: str, published: tuple[float, float]) -> Anchor:
    """APPNP with eight steps, in the same record."""
    own = dict(model="appnp", hidden=64, dropout=0.5)
    train = dict(learning_rate=0.01, dense_weight_decay=5e-4)
    return Anchor("APPNP", data, 8, published, settings=own, train=train)


ANCHORS = (
    appnp("cora", (83.3, 0.3)),
    appnp("citeseer", (71.8, 0.3)),
    appnp("pubmed", (80.1, 0.2)),
    bare("citeseer", 2, (71.8, 0.1), 512, 0.001, 0.5),
    bare("pubmed", 2, (79.5, 0.5), 256, 0.005, 0.7),
    bare("cora", 3, (81.9, 0.6), 512, 0.001, 0.7),
    Anchor(  # in tunedGNN
        "GCN + batch norm + residual",
        "minesweeper",
        12,
        (97.9, 0.2),
        rule="val_score",
        settings=dict(
            model="gcn",
            hidden=64,
            init="glorot",
            dropout=0.2,
            conv_dropout=0.2,
            options={"norm": "BatchNorm", "residual": "linear"},
        ),
        train=dict(learning_rate=0.01, epochs=2000, patience=2000),
        normalize=False,
    ),
)


def measure(anchor: Anchor) -> dict[str, Any]:
    """The test scores of all seeds, by each rule."""
    began = time.perf_counter()
    data = load(anchor.data, normalize=anchor.normalize)
    jobs = [(rule, seed) for rule in RULES for seed in SEEDS]
    models = [m for _ in RULES for m in build_seeds(partial(anchor.build, data), SEEDS)]
    configs = [TrainConfig(select=rule, seed=seed, **anchor.train) for rule, seed in jobs]
    splits = [split_of(data, seed) for _, seed in jobs]
    runs = graphsct.fit_many(models, data, configs, splits=splits)
    scores = [(rule, 100 * run.test_score) for (rule, _), run in zip(jobs, runs, strict=True)]
    return {
        "seconds": round(time.perf_counter() - began),
        **{rule: [score for own, score in scores if own == rule] for rule in RULES},
    }


def read() -> dict[str, Any]:
    """What was measured so far, by the names of the anchors."""
    found: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.is_file() else {}
    return found


def lines() -> Iterator[tuple[str, ...]]:
    """The rows of the table: those measured here, and the repeated models of the authors."""
    found = read()
    for anchor in ANCHORS:
        mean, std = anchor.published
        published = f"{mean:.1f} ± {std:.1f}"
        data = TITLES.get(anchor.data, anchor.data.title())
        head = (anchor.model, data, str(anchor.depth), published)
        yield (*head, *compared(found.get(anchor.name, {}), mean, anchor.rule))
    cells = Cell.read_all(stored_results("paper") / "authors")
    for key in author_cells():
        repeated = repeated_score(key) if key.control is None else None
        if repeated is not None:
            own = {rule: cells[key].accuracies(rule) for rule in RULES} if key in cells else {}
            head = (MODELS[key.model], TITLES[key.dataset], str(key.depth), f"{repeated:.1f}")
            yield (*head, *compared(own, repeated, "val_loss"))


def compared(scores: dict[str, Any], published: float, rule: str) -> tuple[str, ...]:
    """Our scores by both rules, and whether their mean is close to the published one."""
    if not scores.get(rule):
        return "not run", "", ""
    shown = [
        f"{statistics.fmean(scores[r]):.1f} ± {statistics.stdev(scores[r]):.1f}" for r in RULES
    ]
    away = round(statistics.fmean(scores[rule]), 1) - published
    return *shown, "yes" if abs(away) <= CLOSE + 1e-9 else f"no, {away:+.1f}"


def table() -> str:
    """The table, as Markdown."""
    titles = ("model", "data", "layers", "published", "ours, by loss", "ours, by metric", "close")
    rows = [titles, ("---", "---", *["---:"] * 4, "---"), *lines()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure the anchors, or write their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--data", help="only this data set")
    settings = parser.parse_args()
    if settings.what == "report":
        fill(PAGE, {"anchors": table()})
        return
    for anchor in ANCHORS:
        if settings.data in (None, anchor.data) and anchor.name not in read():
            measured = measure(anchor)
            found = read() | {anchor.name: measured}
            write_text(RESULT, json.dumps(found, indent=1) + "\n")
            print(anchor.name, *compared(measured, anchor.published[0], anchor.rule), flush=True)


if __name__ == "__main__":
    main()
