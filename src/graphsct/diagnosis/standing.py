"""Whether a model works at all: its scores beside those of simple rivals."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from graphsct.datasets.graph_list import GraphList
from graphsct.datasets.targets import labelled, num_outputs
from graphsct.nn.model import Model
from graphsct.records import Record
from graphsct.training.config import TrainConfig
from graphsct.training.data import read_features, read_split
from graphsct.training.fit import fit
from graphsct.training.metrics import METRICS, Metric
from graphsct.training.objective import Objective
from graphsct.training.seeding import seeded

__all__ = [
    "SplitScores",
    "Standing",
    "Targets",
    "guess_scores",
    "measure_standing",
    "score_without_edges",
    "without_edges",
]

_WIDTH, _EPOCHS = 64, 200
_MOST = 5_000  # nodes of each part that the network without edges sees


@dataclass(frozen=True)
class SplitScores(Record):
    """The scores on the training nodes and on the validation nodes."""

    train: float
    val: float


@dataclass(frozen=True)
class Standing(Record):
    """How well a model does its task.

    Args:
        metric: name of the metric of all scores
        model: the model's own scores
        guess: scores of the same answer for every node: the most frequent class, or the mean
        without_edges: scores of a network of two layers that sees the features but no edges,
            ``None`` if it was not trained
        nodes: number of validation nodes, or graphs
        frequent: share of the nodes that get the model's most frequent answer; ``None`` for numbers
        frequent_truth: share of the most frequent class among the labels; ``None`` for numbers
        spread: standard deviation of predicted numbers over that of the targets, ``None`` if the
            targets are not numbers
        answers: number of classes that the model predicts at all, ``None`` without classes
        same_without_edges: share of the variance of its output that stays when all edges are taken
            away, ``None`` if the model needs edges to run
        same_with_other_features: share that stays when the nodes exchange their features
        noun: what each prediction is for, ``node`` or ``graph``
    """

    metric: str
    model: SplitScores
    guess: SplitScores
    without_edges: SplitScores | None
    nodes: int
    frequent: float | None
    frequent_truth: float | None
    spread: float | None
    answers: int | None
    same_without_edges: float | None
    same_with_other_features: float | None
    noun: str = "node"

    @property
    def margin(self) -> float:
        """The largest difference of two validation scores that may be chance."""
        return max(0.02, 1 / math.sqrt(self.nodes))

    def skill(self, scores: SplitScores, part: str = "val") -> float:
        """A score on a scale from 0 for guessing to 1 for no error at all."""
        score, guess = getattr(scores, part), getattr(self.guess, part)
        perfect = 1.0 if METRICS[self.metric].larger else 0.0
        return 1.0 if guess == perfect else (score - guess) / (perfect - guess)

    @property
    def text(self) -> str:
        """The scores in a sentence."""
        metric = METRICS[self.metric]
        rivals = [f"{_show(metric, self.guess)} by guessing"]
        if self.without_edges is not None:
            rivals.append(f"{_show(metric, self.without_edges)} by a network without edges")
        return (
            f"{metric.title} {_show(metric, self.model)} on validation (training "
            f"{metric.with_unit(self.model.train)}), against {' and '.join(rivals)}"
        )


def _show(metric: Metric, scores: SplitScores) -> str:
    return metric.with_unit(scores.val)


@dataclass(frozen=True)
class Targets:
    """Targets of nodes or graphs, with the masks of one split.

    Args:
        y: see :mod:`graphsct.datasets.targets`; shape: ``(n,)`` or ``(n, t)``
        train: shape: ``(n,)``
        val: ``None`` if the data have no validation nodes; shape: ``(n,)``
        objective: the loss and the metric
    """

    y: Tensor
    train: Tensor
    val: Tensor | None
    objective: Objective

    def scores(self, output: Tensor) -> SplitScores | None:
        """The metric of an output of a model, if there are validation nodes."""
        if self.val is None:
            return None
        parts = (self.objective.score(output[own], self.y[own]) for own in (self.train, self.val))
        return SplitScores(*(part.item() for part in parts))

    @property
    def directions(self) -> int:
        """The number of directions that a prediction needs."""
        return max(1, num_outputs(self.y) - (self.objective.kind == "classes"))


def measure_standing(
    output: Tensor,
    targets: Targets,
    run: Callable[[Any], Tensor],
    data: Any,
    model: nn.Module,
) -> Standing | None:
    """How well a model does its task, ``None`` without validation nodes.

    Args:
        output: scores of the model; shape: ``(n, outputs)``
        targets: what it predicts
        run: the output of the model for other data
        data: its data
        model: the model
    """
    own, guess = targets.scores(output), guess_scores(targets)
    if own is None or guess is None or targets.val is None:
        return None
    answers = _answers(output, targets)
    counted = None if answers is None else torch.unique(answers, return_counts=True, dim=0)[1]
    y = targets.y[labelled(targets.y)]
    classes = targets.objective.kind == "classes"
    return Standing(
        metric=targets.objective.metric.name,
        model=own,
        guess=guess,
        without_edges=None,
        nodes=int(targets.val.sum()),
        frequent=None if counted is None else float(counted.max() / counted.sum()),
        frequent_truth=float(y.bincount().max() / len(y)) if classes else None,
        spread=None if answers is not None else _spread(output, y),
        answers=len(counted) if classes and counted is not None else None,
        same_without_edges=_same(output, run, without_edges(data, model)),
        same_with_other_features=_same(output, run, _with_other_features(data)),
        noun="node" if len(output) == data.num_nodes else "graph",
    )


def score_without_edges(data: Any, split: Any = None, metric: str | None = None) -> SplitScores:
    """The scores of a network of two layers that does not see the edges, at its best epoch.

    It is trained on the labelled nodes alone, for a second or so. If there are more than 5,000
    training or validation nodes, a random 5,000 of each stand for all. Of a graph in a list it sees
    the mean and the sum of the features of its nodes.

    Args:
        data: as for :func:`graphsct.fit`
        split: as for :func:`graphsct.fit`
        metric: name of the metric

    Example:
        >>> from graphsct.datasets import demo
        >>> scores = score_without_edges(demo())
        >>> scores.train > 0.9
        True
    """
    from torch_geometric.data import Data

    y, masks, objective = read_split(data, split, metric, "the data")
    x = _pooled(data) if isinstance(data, GraphList) else read_features(data, "the data")
    used = [_some(own.nonzero()[:, 0]) for own in (masks.train, masks.val)]
    used.append(used[1])  # a third part that training asks for, and nothing is chosen by
    parts = torch.cat([torch.full_like(own, part) for part, own in enumerate(used)])
    rows = torch.cat(used)
    bare = Data(x=_rows(x, rows), y=y[rows], edge_index=rows.new_zeros(2, 0))
    bare.train_mask, bare.val_mask, bare.test_mask = (parts == part for part in range(3))
    with seeded(0), torch.enable_grad():
        model = _WithoutEdges(bare.num_features, num_outputs(y)).to(bare.x)
        config = TrainConfig(epochs=_EPOCHS, patience=_EPOCHS, metric=objective.metric.name)
        fit(model, bare, config, progress=False)
        with torch.no_grad():
            output = model.eval()(bare.x, bare.edge_index)
    own = (objective.score(output[mask], bare.y[mask]) for mask in (bare.train_mask, bare.val_mask))
    return SplitScores(*(score.item() for score in own))


def _some(rows: Tensor) -> Tensor:
    """At most 5,000 rows, chosen at random."""
    if len(rows) <= _MOST:
        return rows
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    return rows[order[:_MOST].to(rows.device)]


class _WithoutEdges(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(in_channels, _WIDTH),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(_WIDTH, out_channels),
        )

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        found: Tensor = self.layers(x)
        return found


def _rows(x: Tensor, rows: Tensor) -> Tensor:
    """Some rows as a dense matrix; CSR has no product with a selection on all devices."""
    if x.layout == torch.strided:
        return x[rows]
    found: Tensor = x.to_sparse(layout=torch.sparse_coo).index_select(0, rows).to_dense()
    return found


def _pooled(data: GraphList) -> Tensor:
    sums = torch.stack([graph.x.sum(0) for graph in data.graphs])
    means = torch.stack([graph.x.mean(0) for graph in data.graphs])
    return torch.cat([means, sums], dim=1)


def guess_scores(targets: Targets) -> SplitScores | None:
    """The scores of the best constant answer: the frequencies in training, or the mean."""
    y, known = targets.y, targets.train & labelled(targets.y)
    if targets.objective.kind == "classes":
        scores = y[known].bincount(minlength=int(y.max()) + 1).double()
    else:
        scores = y[known].nanmean(dim=0).reshape(-1).double()
        if targets.objective.kind == "labels":
            scores = scores - 0.5
    return targets.scores(scores.expand(len(y), -1))


def _answers(output: Tensor, targets: Targets) -> Tensor | None:
    """The predicted class or labels of each node, ``None`` for numbers."""
    kind = targets.objective.kind
    if kind == "numbers":
        return None
    return output.argmax(dim=1) if kind == "classes" else output > 0


def _spread(output: Tensor, y: Tensor) -> float:
    truth = y.reshape(len(y), -1)
    wide = torch.stack([own[~own.isnan()].std() for own in truth.t()])
    return float((output.std(dim=0) / wide.clamp_min(1e-12)).max())


def _same(output: Tensor, run: Callable[[Any], Tensor], other: Any) -> float | None:
    """The share of the variance of an output that stays when the model gets other data."""
    if other is None:
        return None
    try:
        changed = run(other)
    except Exception:  # a model may need edges
        return None
    if changed.shape != output.shape or not bool(changed.isfinite().all()):
        return None
    variance = float(output.var(dim=0).sum())
    off = float((changed - output).square().mean(0).sum())
    return max(0.0, 1 - off / max(variance, 1e-30))


def without_edges(data: Any, model: nn.Module) -> Any:
    """The same data without edges, ``None`` if they have none to take away.

    For models of :mod:`graphsct.nn`, every node keeps a self-loop, as it has in their graphs.
    """
    edges = getattr(data, "edge_index", None)
    if not isinstance(edges, Tensor) or not edges.numel():
        return None
    bare = copy.copy(data)
    for name in ("edge_weight", "edge_attr", "graph", "adj_t"):
        if name in bare and bare[name] is not None:
            rows = isinstance(bare[name], Tensor) and not isinstance(model, Model)
            bare[name] = bare[name][:0] if rows and name.startswith("edge") else None
    loops = torch.arange(data.num_nodes, device=edges.device).repeat(2, 1)
    bare.edge_index = loops if isinstance(model, Model) else edges[:, :0]
    return bare


def _with_other_features(data: Any) -> Any:
    """The same data with the features of the nodes exchanged, ``None`` if they have none."""
    x = getattr(data, "x", None)
    if not isinstance(x, Tensor) or x.layout != torch.strided:
        return None
    changed = copy.copy(data)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    changed.x = x[order.to(x.device)]
    return changed
