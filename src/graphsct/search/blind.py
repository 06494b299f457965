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
from graphsct.datasets.targets import check_targets, num_outputs
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.nn.model import Model
from graphsct.training.data import SplitData, TrainingData, count_splits
from graphsct.training.device import Mover
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
        num_outputs: number of outputs of a model
        rest: the data without targets and masks, for models that are not of :mod:`graphsct.nn`

    Example:
        >>> from graphsct.datasets import demo
        >>> blind = BlindData.of(demo())
        >>> int((blind.views[0].y >= 0).sum()) < 300
        True
    """

    views: tuple[TrainingData, ...]
    graph: Graph
    num_features: int
    num_outputs: int
    rest: Any

    @classmethod
    def of(cls, data: Any, metric: str | None = None) -> BlindData:
        """Remove the test nodes of a ``Data`` for good.

        Args:
            data: as for :func:`graphsct.fit`
            metric: name of the metric; defaults to that of the data
        """
        count = count_splits(data)
        splits = range(count) if count > 1 else [None]
        graph = graph_of(data)
        views = tuple(
            replace(SplitData.of(data, split, metric=metric).blind(), edges=(graph,))
            for split in splits
        )
        outputs = num_outputs(check_targets(data.y))
        return cls(views, graph, int(data.num_features), outputs, _without_targets(data))

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
        return self.graph.num_nodes

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
        x = to_tensor(normalize_rows(from_tensor(self.views[0].x.cpu())))
        x = Mover(self.graph.device)(x)
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
        first = self.views[0]
        found = {"features": digest(first.x), "edges": digest(self.graph.matrix)}
        for name in ("y", "train", "val"):
            found[name] = " ".join(digest(getattr(view, name)) for view in self.views)
        return found


def _without_targets(data: Any) -> Any:
    """A copy of a ``Data`` that shares its tensors and has neither targets nor masks."""
    rest = copy.copy(data)
    for name in list(rest.keys()):
        if name in ("y", "splits") or name.endswith("_mask"):
            del rest[name]
    return rest
