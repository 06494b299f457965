"""The error rates of the verdicts: models whose faults are known because they were built in.

    python benchmarks/verdicts.py run --out verdicts.jsonl      # resumable, a line per model
    python benchmarks/verdicts.py report --out verdicts.jsonl   # rates.json and docs/diagnosis.md

Half of the architectures and half of the data sets may be looked at when limits are chosen
(``chosen``); the tables are those of models with the other architectures on the other data sets
(``kept out``). ``report --half chosen`` shows the first half.

Every model is trained with its fault in place. The truth of a finding is known by construction;
whether a model works is known by its test score, which no verdict sees.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import (
    APPNP,
    ChebConv,
    GATConv,
    GCN2Conv,
    GCNConv,
    GINConv,
    SAGEConv,
    TransformerConv,
)

from graphsct import Graph, datasets, diagnose, fit
from graphsct.datasets import csbm
from graphsct.datasets.splits import Fractions
from graphsct.diagnosis import SplitScores, find_cause, score_without_edges
from graphsct.diagnosis.calling import trainable
from graphsct.diagnosis.standing import Targets, guess_scores
from graphsct.training import TrainConfig
from graphsct.training.data import read_split

WIDTH, EPOCHS = 32, 60
ARCHITECTURES = {
    "chosen": ("gcn", "sage", "gat", "appnp"),
    "kept out": ("gcnii", "gin", "transformer", "cheb"),
}
DATA = {
    "chosen": ("cora", "texas", "chameleon_filtered", "minesweeper", "blocks"),
    "kept out": ("citeseer", "wisconsin", "squirrel_filtered", "actor", "rings"),
}

#: Data of which a third of the models is enough, for their time.
LARGE = ("minesweeper", "actor", "squirrel_filtered")

WHOLE = ("one answer", "guesses", "underfits", "worse than without edges")
IGNORES = ("ignores the graph", "ignores the features")
INSIDE = (
    "dead",
    "exploding",
    "faded",
    "over-smoothed",
    "collapsed",
    "vanishing gradient",
    "frozen",
)
#: What a fault makes true, and what it leaves open; every other finding inside is false.
FAULTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "none": ((), ()),
    "shift": ((), ("dead",)),  # a large constant before ReLU does kill
    "smooth": (("over-smoothed",), ("collapsed", "vanishing gradient")),
    "rank one": (("collapsed",), ("over-smoothed",)),
    "dead": (("dead",), ("faded", "over-smoothed", "collapsed", "vanishing gradient")),
    "exploding": (("exploding",), ("vanishing gradient", "over-smoothed", "collapsed")),
    "faded": (("faded",), ("over-smoothed", "collapsed", "vanishing gradient")),
    "gradient": (("vanishing gradient",), ("over-smoothed", "collapsed")),
    "frozen": (("frozen",), ()),
    "one answer": (("one answer",), ("vanishing gradient", "collapsed")),
    "no graph": (("ignores the graph",), ()),
    "no features": (("ignores the features",), ()),
    "untrained": (("underfits",), ()),
    "weak start": ((), INSIDE),
    "shuffled": ((), ("collapsed",)),
    "deep": ((), INSIDE),
    "chain": (("over-squashed",), INSIDE),
    "expander": ((), INSIDE),
}
CAUSES = {"smooth": "over-smoothing", "weak start": "weak signal", "untrained": "training"}


@dataclass(frozen=True)
class Case:
    """A model with a fault on some data."""

    half: str
    data: str
    architecture: str
    depth: int
    fault: str
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.architecture}-{self.depth}-{self.fault}-{self.data}-{self.seed}"


def cases() -> list[Case]:
    """All models, in an order of which every beginning is representative."""
    found = []
    for half in ("chosen", "kept out"):
        for architecture in ARCHITECTURES[half]:
            for data in DATA[half]:
                found += [Case(half, data, architecture, *way) for way in _ways(architecture, data)]
            for data in ("chain", "expander"):
                found += [Case(half, data, architecture, 8, data, seed) for seed in range(3)]
    random.Random(0).shuffle(found)
    large = [case for case in found if case.data in LARGE]
    return [case for case in found if case not in large[len(large) // 3 :]]


def _ways(architecture: str, data: str) -> Iterator[tuple[int, str]]:
    yield 2, "none"
    yield from ((2, fault) for fault in ("one answer", "no graph", "no features", "untrained"))
    yield 2, "shuffled"
    if architecture != "appnp":  # a single layer that propagates
        yield 4, "none"
        faults = ["shift", "smooth", "dead", "exploding", "faded", "frozen"]
        faults += ["rank one"] if load(data).num_classes > 3 else []
        faults += ["gradient"] if architecture != "gcnii" else []  # x_0 is a shortcut
        yield from ((4, fault) for fault in faults)
        yield 8, "weak start"
    if data not in LARGE:
        yield 16, "deep"
        yield 32, "deep"


@cache
def load(name: str) -> Any:
    """The data of a case, split 0."""
    split = Fractions(0.3, 0.3, seed=0)
    if name == "blocks":
        data = csbm(1000, 4000, num_classes=4, homophily=0.8, num_features=32, split=split, seed=1)
    elif name == "rings":
        data = csbm(1500, 3000, num_classes=5, homophily=0.7, num_features=48, split=split, seed=2)
    elif name in ("chain", "expander"):
        data = _labelled(_chain() if name == "chain" else _expander())
    else:
        data = datasets.load(name)
    masks = data.splits[0] if getattr(data, "splits", None) else None
    if masks is not None:
        data.train_mask, data.val_mask, data.test_mask = masks
        data.splits = ()
    return data


def _chain(cliques: int = 30, size: int = 12) -> Tensor:
    """Cliques in a row, joined by single edges: a bottleneck after a bottleneck."""
    pairs = [
        (c * size + i, c * size + j) for c in range(cliques) for i in range(size) for j in range(i)
    ]
    pairs += [(c * size, (c - 1) * size + 1) for c in range(1, cliques)]
    return torch.tensor(pairs).t()


def _expander(nodes: int = 360, rings: int = 4) -> Tensor:
    """Random rings over the same nodes, which leave no bottleneck."""
    generator = torch.Generator().manual_seed(0)
    orders = [torch.randperm(nodes, generator=generator) for _ in range(rings)]
    return torch.cat([torch.stack([order, order.roll(1)]) for order in orders], dim=1)


def _labelled(pairs: Tensor) -> Any:
    """A graph with two classes that the features of a node give away."""
    from torch_geometric.data import Data

    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    nodes = int(pairs.max()) + 1
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(2, (nodes,), generator=generator)
    x = torch.randn(nodes, 16, generator=generator) + 2 * y.unsqueeze(1)
    data = Data(x=x, y=y, edge_index=torch.unique(both, dim=1), num_nodes=nodes)
    part = torch.randint(3, (nodes,), generator=generator)
    data.train_mask, data.val_mask, data.test_mask = (part == own for own in range(3))
    return data


class _Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return 1e-6 * gradient


class Fault(nn.Module):
    """What is done to the features of a layer."""

    direction: Tensor
    other: Tensor

    def __init__(self, kind: str) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.kind = kind
        self.register_buffer("direction", torch.randn(WIDTH, generator=generator))
        self.register_buffer("other", torch.randn(WIDTH, generator=generator))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.kind == "shift":
            return x + 20 * x.detach().square().mean().sqrt() * self.direction
        if self.kind == "smooth" and edge_index.numel():
            graph = _graph(edge_index, len(x)).to(x.dtype)
            smooth = graph.project(x)
            return smooth + 1e-3 * (x - smooth)
        if self.kind == "rank one":
            along: Tensor = x @ self.direction
            return along.unsqueeze(1) * self.other.div(WIDTH**0.5)
        if self.kind == "dead":
            return x * (torch.arange(WIDTH) < 3)
        if self.kind == "exploding":
            return 1e6 * x
        if self.kind == "faded":
            return 1e-10 * x
        if self.kind == "gradient":
            found: Tensor = _Gradient.apply(x)  # type: ignore[no-untyped-call]
            return found
        return x


_GRAPHS: dict[tuple[int, int], tuple[Tensor, Graph]] = {}


def _graph(edge_index: Tensor, nodes: int) -> Graph:
    key = (id(edge_index), nodes)
    if key not in _GRAPHS or _GRAPHS[key][0] is not edge_index:
        _GRAPHS[key] = (edge_index, Graph(edge_index, num_nodes=nodes))
    return _GRAPHS[key][1]


def _conv(architecture: str, width: int) -> Any:
    if architecture == "gin":
        inner = nn.Sequential(nn.Linear(width, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU())
        return GINConv(inner.append(nn.Linear(WIDTH, WIDTH)))
    if architecture == "gcnii":
        return GCN2Conv(WIDTH, alpha=0.1, theta=0.5, layer=1)
    if architecture == "gat":
        return GATConv(width, WIDTH // 4, heads=4)
    if architecture == "cheb":
        return ChebConv(width, WIDTH, K=3)
    kind = {"gcn": GCNConv, "sage": SAGEConv, "transformer": TransformerConv}[architecture]
    return kind(width, WIDTH)


class Stack(nn.Module):
    """A linear layer, convolutions with ReLU, a fault in the middle, and a linear layer."""

    def __init__(self, case: Case, data: Any, classes: int) -> None:
        super().__init__()
        self.case = case
        inputs = 16 if case.fault == "no features" else data.num_features
        own = case.fault == "no features"
        self.embedding = nn.Embedding(data.num_nodes, 16) if own else None
        self.input = nn.Linear(inputs, WIDTH)
        if case.architecture == "appnp":
            self.middle = nn.Linear(WIDTH, WIDTH)
            self.convs = nn.ModuleList([APPNP(K=case.depth, alpha=0.1)])
        else:
            self.convs = nn.ModuleList(_conv(case.architecture, WIDTH) for _ in range(case.depth))
        self.fault = Fault(case.fault)
        self.output = nn.Linear(WIDTH, classes)
        self.spoil()

    def reset_parameters(self) -> None:
        """Start anew, with the same fault."""
        for part in self.modules():
            if part is not self and hasattr(part, "reset_parameters"):
                part.reset_parameters()  # type: ignore[operator]
        self.spoil()

    def spoil(self) -> None:
        """Make the start weak, or freeze a layer, if that is the fault."""
        with torch.no_grad():
            if self.case.fault == "weak start":
                for weight in self.convs.parameters():
                    weight.mul_(0.02)
        if self.case.fault == "frozen":
            self.convs[1].requires_grad_(False)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.embedding is not None:
            x = self.embedding.weight
        if self.case.fault == "no graph":
            edge_index = edge_index[:, :0]
        first = x = self.input(x).relu()
        if self.case.architecture == "appnp":
            x = self.middle(x).relu()
        for number, conv in enumerate(self.convs, 1):
            more = (first,) if self.case.architecture == "gcnii" else ()
            x = conv(x, *more, edge_index).relu()
            if number == max(1, len(self.convs) // 2):
                x = self.fault(x, edge_index)
        scores: Tensor = self.output(x)
        if self.case.fault == "one answer" and not self.training:
            scores = scores + 1e6 * nn.functional.one_hot(torch.tensor(0), scores.shape[1])
        return scores


def _shuffled(data: Any) -> Any:
    """The same data with edges between random nodes."""
    from torch_geometric.data import Data

    half = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    generator = torch.Generator().manual_seed(0)
    ends = half.flatten()[torch.randperm(half.numel(), generator=generator)].view(2, -1)
    ends = ends[:, ends[0] != ends[1]]
    both = torch.unique(torch.cat([ends, ends.flip(0)], dim=1), dim=1)
    new = Data(x=_dense(data.x), y=data.y, edge_index=both, num_nodes=data.num_nodes)
    new.train_mask, new.val_mask, new.test_mask = data.train_mask, data.val_mask, data.test_mask
    return new


def _dense(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_dense()


@cache
def rival(name: str) -> SplitScores:
    """The scores of a network without edges."""
    return score_without_edges(load(name))


def examine(case: Case) -> dict[str, Any]:
    """Train a model, diagnose it, and look for the cause where that is known."""
    torch.manual_seed(case.seed + 17)
    data = load(case.data)
    data = _shuffled(data) if case.fault == "shuffled" else data
    model = Stack(case, data, data.y.max().item() + 1)
    config = TrainConfig(epochs=EPOCHS, patience=EPOCHS, seed=case.seed)
    if case.fault == "untrained":
        config = replace(config, epochs=1, patience=1, learning_rate=1e-7)
    run = fit(trainable(model, data), data, config, progress=False)
    found = diagnose(model, data, rival=rival(case.data), reach=False)
    small = data.num_nodes < 2500
    if case.fault in CAUSES and not found.works and small:
        found = find_cause(found, model, data)
    y, masks, objective = read_split(data, None, None, "the data")
    scores = guess_scores(Targets(y, masks.train, masks.test, objective))
    values = found.to_dict()
    for layer in values["layers"]:
        for key in ("smoothness", "sizes"):
            layer[key] = []
    return {
        "case": asdict(case),
        "test": run.test_score,
        "guess": None if scores is None else scores.val,
        "diagnosis": values,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/verdicts.jsonl"))
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--half", default="kept out", choices=tuple(DATA))
    options = parser.parse_args()
    if options.what == "report":
        from verdict_rates import report

        report(options.out, options.half)
        return
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {Case(**json.loads(line)["case"]).name for line in lines}
    left = [case for case in cases() if case.name not in done and options.only in case.name]
    for number, case in enumerate(left, 1):
        row = examine(case)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        kinds = [finding["kind"] for finding in row["diagnosis"]["findings"]]
        print(f"{number}/{len(left)} {case.name}: {row['test']:.3f} {kinds}", flush=True)


if __name__ == "__main__":
    main()
