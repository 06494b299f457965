"""Data without their test nodes."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.features import from_tensor, normalize_rows, to_tensor
from graphsct.datasets.graph_data import GraphData
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.nn import Model
from graphsct.nn.blueprint import num_outputs
from graphsct.training.data import SplitData, TrainingData, count_splits, model_inputs, read_edges
from graphsct.training.fingerprint import digest

__all__ = ["BlindData"]


@dataclass(frozen=True)
class BlindData:
    """The part of some data that a search may see: one view without test nodes for each split.

    There is no test mask in it, and every label outside the training and validation nodes of a view
    is -1. Models can be built from it as from the data, by functions that look at the features and
    the edges alone.

    Args:
        views: one for each split
        graph: the graph
        num_features: number of features of each node
        num_classes: number of classes, or of other outputs

    Example:
        >>> from graphsct.datasets import demo
        >>> blind = BlindData.of(demo())
        >>> int((blind.views[0].y >= 0).sum()) < 300
        True
    """

    views: tuple[TrainingData, ...]
    graph: Graph
    num_features: int
    num_classes: int

    @classmethod
    def of(cls, data: Any) -> BlindData:
        """Remove the test nodes of a ``Data`` for good."""
        count = count_splits(data)
        splits = range(count) if count > 1 else [None]
        graph = graph_of(data)
        views = (replace(SplitData.of(data, split).blind(), edges=(graph,)) for split in splits)
        return cls(tuple(views), graph, int(data.num_features), num_outputs(data))

    @property
    def x(self) -> Tensor:
        """The features; shape: ``(n, d)``."""
        return self.views[0].x

    @property
    def edge_index(self) -> Tensor:
        """The edges of the graph, both directions; shape: ``(2, num_edges)``."""
        return self.graph.edge_index

    @property
    def edge_weight(self) -> Tensor | None:
        """Weights of these edges, none if all are one; shape: ``(num_edges,)``."""
        return self.graph.edge_weight

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    def views_of(self, model: torch.nn.Module, *, normalize: bool) -> tuple[TrainingData, ...]:
        """The views with the arguments of a model, which are dense and plain if it is not ours.

        Args:
            model: the model
            normalize: make the rows of the features sum to one
        """
        views = self.normalized if normalize else self.views
        if isinstance(model, Model):
            return views
        x = views[0].x.to_dense() if views[0].x.layout != torch.strided else views[0].x
        data = GraphData(x=x, edge_index=self.edge_index, edge_weight=self.edge_weight)
        edges = read_edges(data, views[0].name, plain=True)
        inputs = model_inputs(model, data, x, edges)
        return tuple(replace(view, x=x, edges=edges, inputs=inputs) for view in views)

    @cached_property
    def normalized(self) -> tuple[TrainingData, ...]:
        """The views with rows of features that sum to one."""
        x = normalize_rows(from_tensor(self.views[0].x))
        return tuple(replace(view, x=to_tensor(x)) for view in self.views)

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
        first = self.views[0]
        found = {"features": digest(first.x), "edges": digest(self.graph.matrix)}
        for name in ("y", "train", "val"):
            found[name] = " ".join(digest(getattr(view, name)) for view in self.views)
        return found
