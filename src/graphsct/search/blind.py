"""Data without their test nodes."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.features import from_tensor, normalize_rows, to_tensor
from graphsct.datasets.graph_list import GraphList
from graphsct.datasets.targets import check_targets, num_outputs
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.nn.model import Model
from graphsct.training.data import TrainingData, count_splits
from graphsct.training.device import Mover
from graphsct.training.fingerprint import digest
from graphsct.training.graphs import TrainingGraphs, as_graphs, read_data

__all__ = ["BlindData", "BlindGraphs"]


@dataclass(frozen=True)
class BlindData:
    """The part of some data that a search may see: one view without test nodes for each split.

    There is no test mask in it, and every target outside the training and validation nodes of a
    view is -1, or NaN in regression. A function that builds a model from the features and the edges
    of the data can build it from this as well.

    Args:
        views: one for each split
        graph: the graph, none for a list of graphs
        num_features: number of features of each node
        num_outputs: number of outputs of a model
        rest: the data without targets and masks, for models that are not of :mod:`graphsct.nn`

    Example:
        >>> from graphsct.datasets import demo
        >>> blind = BlindData.of(demo())
        >>> int((blind.views[0].y >= 0).sum()) < 300
        True
    """

    views: tuple[TrainingData, ...]
    graph: Graph | None
    num_features: int
    num_outputs: int
    rest: Any

    @classmethod
    def of(cls, data: Any, metric: str | None = None) -> BlindData:
        """Remove the test nodes of a ``Data``, or the test graphs of a list, for good.

        Args:
            data: as for :func:`graphsct.fit`
            metric: name of the metric; defaults to that of the data
        """
        data = as_graphs(data)
        count = count_splits(data)
        splits = range(count) if count > 1 else [None]
        views: tuple[Any, ...] = tuple(
            read_data(data, split, metric=metric).blind() for split in splits
        )
        sizes = int(data.num_features), num_outputs(check_targets(data.y))
        if isinstance(data, GraphList):
            return BlindGraphs(views, None, *sizes, None)
        graph = graph_of(data)
        views = tuple(replace(view, edges=(graph,)) for view in views)
        return cls(views, graph, *sizes, _without_targets(data))

    def to(self, device: torch.device) -> BlindData:
        """The same data on another device."""
        mover = Mover(device)
        views = tuple(view.moved_by(mover) for view in self.views)
        return replace(self, views=views, graph=mover(self.graph), rest=mover(self.rest))

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.views[0].objective.metric.name

    @property
    def num_classes(self) -> int:
        """The number of outputs by the name that it has in PyTorch Geometric."""
        return self.num_outputs

    @property
    def x(self) -> Tensor:
        """The features; shape: ``(n, d)``."""
        features: Tensor = self.rest.x
        return features

    @property
    def edge_index(self) -> Tensor:
        """The edges; shape: ``(2, num_edges)``."""
        edges: Tensor = self.rest.edge_index
        return edges

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.rest.num_nodes)

    def views_of(self, model: torch.nn.Module, *, normalize: bool = False) -> list[TrainingData]:
        """The views as a model takes them.

        Args:
            model: any model
            normalize: make each row of features sum to one
        """
        views = self._normalized if normalize else self.views
        if isinstance(model, Model):
            return list(views)
        given = views[0].given_to(model, self.rest)
        return [replace(given, y=own.y, train=own.train, val=own.val) for own in views]

    @cached_property
    def _normalized(self) -> tuple[TrainingData, ...]:
        """The views with rows of features that sum to one."""
        given = self.views[0].x
        x = to_tensor(normalize_rows(from_tensor(given.cpu())))
        x = Mover(given.device)(x)
        return tuple(replace(view, x=x) for view in self.views)

    def to_bytes(self) -> bytes:
        """Serialize for another process, which thus never gets the test nodes."""
        return pickle.dumps(self)

    @staticmethod
    def from_bytes(content: bytes) -> BlindData:
        """Read the content that :meth:`to_bytes` returned."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse")  # it is in beta state
            found: BlindData = pickle.loads(content)
        return found

    def fingerprint(self) -> dict[str, str]:
        """Plain values, equal only for the same data."""
        assert self.graph is not None
        found = {"features": digest(self.views[0].x), "edges": digest(self.graph.matrix)}
        return found | self._of_views("y", "train", "val")

    def _of_views(self, *names: str) -> dict[str, str]:
        return {
            name: " ".join(digest(getattr(view, name)) for view in self.views) for name in names
        }


@dataclass(frozen=True)
class BlindGraphs(BlindData):
    """The part of a list of graphs that a search may see: one list without test graphs for each
    split.
    """

    views: tuple[TrainingGraphs, ...]

    @property
    def graphs(self) -> tuple[Any, ...]:
        """The graphs that the first split shows."""
        return self.views[0].graphs

    def views_of(self, model: torch.nn.Module, *, normalize: bool = False) -> list[TrainingData]:
        """The views, which any model takes; see :meth:`BlindData.views_of`."""
        return list(self._normalized if normalize else self.views)

    @cached_property
    def _normalized(self) -> tuple[TrainingGraphs, ...]:
        return tuple(view.normalized() for view in self.views)

    def fingerprint(self) -> dict[str, str]:
        """Plain values, equal only for the same data."""
        edges = " ".join(digest(edges) for view in self.views for edges in view.edges)
        return {"edges": edges, **self._of_views("x", "y", "train", "val")}


def _without_targets(data: Any) -> Any:
    """A copy of a ``Data`` that shares its tensors and has neither targets nor masks."""
    rest = copy.copy(data)
    for name in list(rest.keys()):
        if name in ("y", "splits") or name.endswith("_mask"):
            del rest[name]
    return rest
