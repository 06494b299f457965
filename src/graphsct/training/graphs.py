"""Training data that are a list of graphs, each with a target of its own."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from graphsct.datasets.features import from_tensor, normalize_rows, to_tensor
from graphsct.datasets.graph_list import GraphList
from graphsct.datasets.open_data import open_data
from graphsct.datasets.splits import Split
from graphsct.errors import ModelError
from graphsct.training.data import (
    SplitData,
    TrainingData,
    read_edges,
    read_features,
    read_split,
)
from graphsct.training.fingerprint import digest

__all__ = ["SplitGraphs", "TrainingGraphs", "arguments_of", "as_graphs", "join", "read_data"]

#: Number of graphs that are evaluated at once.
_AT_ONCE = 128

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def as_graphs(data: Any) -> Any:
    """The data, where a plain list or a dataset of PyTorch Geometric becomes a checked one.

    A list without a split gets the default one of :class:`~graphsct.datasets.Fractions`.

    Args:
        data: as for :func:`graphsct.fit`
    """
    from torch_geometric.data import Dataset

    return open_data(data) if isinstance(data, Dataset | list | tuple) else data


def read_data(
    data: Any,
    split: int | Split | None = None,
    *,
    model: torch.nn.Module | None = None,
    metric: str | None = None,
) -> SplitData:
    """One split of a graph or of a list of graphs; the arguments are those of
    :meth:`SplitData.of`.
    """
    kind = SplitGraphs if isinstance(data, GraphList) else SplitData
    return kind.of(data, split, model=model, metric=metric)


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingGraphs(TrainingData):
    """Everything that training may look at: graphs with their targets, and two masks over them.

    It has no test graphs; :class:`SplitGraphs` adds them.

    ``x`` and ``edges`` are those of all graphs, joined to one; ``y`` has a row for each graph.

    Args:
        graphs: each a PyTorch Geometric ``Data``
    """

    graphs: tuple[Any, ...]

    def scores(self, model: torch.nn.Module) -> Tensor:
        """The output of a model for all graphs, with one row for each."""
        return torch.cat([self._call(model, batch) for batch in self._batches])

    def scores_of(self, model: torch.nn.Module, graphs: Tensor) -> Tensor:
        """The output of a model for some graphs, given by their numbers."""
        return self._call(model, join([self.graphs[number] for number in graphs.tolist()]))

    def _call(self, model: torch.nn.Module, batch: Any) -> Tensor:
        """The output of a model for a batch, if it has one row for each graph."""
        given, named = arguments_of(model, batch)
        scores = self.call(model, *given, **named)
        if not isinstance(scores, Tensor) or scores.dim() != 2 or len(scores) != batch.num_graphs:
            what = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            raise ModelError(
                f"the model returned {what} for {batch.num_graphs} graphs with {batch.num_nodes} "
                f"nodes in all, expected scores of shape ({batch.num_graphs}, outputs): pool the "
                "nodes with torch_geometric.nn.global_mean_pool(x, batch), or build a model of "
                "graphsct.nn with readout='mean'"
            )
        return scores

    def check_scores(self, scores: Any) -> None:
        """Raise an error if the output of a model cannot be scores for these targets."""
        self.objective.check_scores(scores, self.y, self._used(), self.name, of="graph")

    def normalized(self) -> Self:
        """The same graphs with rows of features that sum to one."""
        found = [copy.copy(graph) for graph in self.graphs]
        for graph in found:
            rows = to_tensor(normalize_rows(from_tensor(graph.x.cpu())))
            graph.x = rows.to(graph.x.device)
        return replace(self, x=torch.cat([graph.x for graph in found]), graphs=tuple(found))

    def blind(self) -> TrainingGraphs:
        """The same data without test graphs."""
        return self

    @cached_property
    def _batches(self) -> list[Any]:
        """All graphs in order; they are kept, and so is what :class:`Graph` builds from them."""
        starts = range(0, len(self.graphs), _AT_ONCE)
        return [join(self.graphs[start : start + _AT_ONCE]) for start in starts]


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitGraphs(TrainingGraphs, SplitData):
    """A list of graphs with one whole split, test graphs included."""

    @classmethod
    def of(
        cls,
        data: GraphList,
        split: int | Split | None = None,
        *,
        model: torch.nn.Module | None = None,
        metric: str | None = None,
    ) -> SplitGraphs:
        """Check a list of graphs, and read one of its splits; see :meth:`SplitData.of`."""
        y, masks, objective = read_split(data, split, metric, data.name, of="graphs")
        return cls(
            **_joined(data.graphs, data.name),
            y=y,
            train=masks.train,
            val=masks.val,
            name=data.name,
            objective=objective,
            split=masks,
            graphs=tuple(data.graphs),
        )

    def blind(self) -> TrainingGraphs:
        """The same data with the graphs of the two masks only, made once."""
        return self._blind

    @cached_property
    def _blind(self) -> TrainingGraphs:
        rows = (self.train | self.val).nonzero()[:, 0]
        graphs = tuple(self.graphs[row] for row in rows.tolist())
        own = {each.name: getattr(self, each.name) for each in fields(TrainingData)}
        own |= {name: own[name][rows] for name in ("y", "train", "val")}
        return TrainingGraphs(**own | _joined(graphs, self.name), graphs=graphs)

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """Plain values, equal only for the same data."""
        sizes = torch.tensor([graph.num_nodes for graph in self.graphs])
        return {**super().fingerprint, "sizes": digest(sizes)}


def _joined(graphs: Sequence[Any], name: str) -> dict[str, Any]:
    """The features and the edges of all graphs."""
    joined = join(graphs)
    return {"x": read_features(joined, name), "edges": read_edges(joined, name, plain=True)}


def join(graphs: Sequence[Any]) -> Any:
    """Graphs as one ``Batch`` of PyTorch Geometric, in which each is a part of its own."""
    from torch_geometric.data import Batch

    return Batch.from_data_list(list(graphs))


def arguments_of(model: torch.nn.Module, batch: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the named arguments of a model for a batch.

    A model with one required argument that is not ``x`` gets the batch. Any other gets ``x`` and
    ``edge_index`` first, whatever it calls them, and by name whatever else the batch has, such as
    ``edge_weight``, ``edge_attr`` and ``batch``, but never the targets ``y``.

    Args:
        model: any model
        batch: a PyTorch Geometric ``Batch``
    """
    taken = inspect.signature(model.forward).parameters.values()
    named = [p for p in taken if p.kind in _NAMED]
    required = [p.name for p in named if p.default is p.empty]
    if len(required) == 1 and required[0] != "x":
        return (batch,), {}
    if not named:
        return (batch.x, batch.edge_index, batch.batch), {}
    given = {p.name: batch[p.name] for p in named if p.name in batch and p.name != "y"}
    for p, name in zip(named, ("x", "edge_index"), strict=False):
        given.setdefault(p.name, batch[name])
    return (), given
