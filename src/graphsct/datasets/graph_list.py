"""Lists of graphs, each with a target of its own."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import torch
from torch import Tensor

from graphsct.datasets.features import as_numbers
from graphsct.datasets.readers.numbering import read_targets
from graphsct.datasets.readers.objects import from_data
from graphsct.datasets.splits import Fractions, PerClass, Split, check_split
from graphsct.datasets.targets import kind_of, num_outputs
from graphsct.errors import DataError

__all__ = ["GraphList", "from_graphs"]


class GraphList(Sequence[Any]):
    """Graphs with one target each, as :func:`from_graphs` checks them.

    A graph is a PyTorch Geometric ``Data`` whose ``y`` is its row of the targets, so that
    ``DataLoader(list(graphs))`` makes batches of them.

    Args:
        graphs: the graphs
        y: targets of the graphs, ``None`` if they have none; shape: ``(g,)`` or ``(g, t)``
        splits: masks over the graphs; the first one is ``train_mask``, ``val_mask``, ``test_mask``
        name: name of the list
        metric: the usual score, ``None`` for the default of the targets
    """

    def __init__(
        self,
        graphs: Sequence[Any],
        y: Tensor | None,
        splits: Sequence[Split] = (),
        *,
        name: str = "graphs",
        metric: str | None = None,
    ) -> None:
        self.graphs, self.y, self.name, self.metric = list(graphs), y, name, metric
        self.splits: list[Split] = []
        if splits:
            self.set_splits(splits)

    def set_splits(self, splits: Sequence[Split]) -> None:
        """Give the list its splits, after checking them; the first one becomes the masks."""
        if self.y is None:
            raise DataError(f"{self.name} has no targets y, so there is nothing to split")
        if not splits:
            raise DataError(f"{self.name} got an empty list of splits; give one, or leave it out")
        for number, split in enumerate(splits):
            where = f"split {number} of {self.name}"
            check_split(split, self.y, every_class=False, where=where)
        self.splits = list(splits)
        self.train_mask, self.val_mask, self.test_mask = splits[0]

    def __len__(self) -> int:
        return len(self.graphs)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.graphs[index]

    def __repr__(self) -> str:
        return (
            f"GraphList({self.name!r}, {len(self)} graphs, num_features={self.num_features}, "
            f"num_outputs={None if self.y is None else self.num_outputs})"
        )

    @property
    def num_features(self) -> int:
        """Number of features of each node."""
        return int(self.graphs[0].num_features)

    @property
    def num_outputs(self) -> int:
        """Number of outputs of a model: one for each class, label or number."""
        if self.y is None:
            raise DataError(f"{self.name} has no targets y, so there is nothing to predict")
        return num_outputs(self.y)

    @property
    def num_classes(self) -> int:
        """Number of classes, if the targets are classes."""
        if self.y is None or kind_of(self.y) != "classes":
            raise AttributeError(f"the targets of {self.name} are not classes; see num_outputs")
        return self.num_outputs


def from_graphs(
    graphs: Iterable[Any],
    *,
    split: Fractions | PerClass | Split | Sequence[Split] | None = None,
    symmetrize: bool = False,
    normalize: bool = False,
    features: str | None = None,
    name: str = "graphs",
    metric: str | None = None,
) -> GraphList:
    """Check a list of graphs, such as a dataset of PyTorch Geometric, with :func:`from_data`.

    Args:
        graphs: each a ``Data`` with ``edge_index`` and ``x``, and a ``y`` with its target or its
            row of targets: all of them, or none
        split: the masks over the graphs, or how to draw them
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        features: the features to make for graphs without any: ``degree`` or ``laplacian``
        name: name of the list, in errors
        metric: the usual score of these data

    Example:
        >>> from graphsct.datasets import demo
        >>> graphs = [demo(seed) for seed in range(4)]
        >>> for number, graph in enumerate(graphs):
        ...     graph.y = torch.tensor([number % 2])
        >>> from_graphs(graphs)
        GraphList('graphs', 4 graphs, num_features=16, num_outputs=2)
    """
    if features == "one_hot":
        raise DataError(
            "features='one_hot' makes a column for each node, and each graph has other nodes; use "
            "features='degree'"
        )
    if not isinstance(graphs, Iterable):
        raise DataError(f"{name} is {graphs!r}, expected a list of graphs")
    given = list(graphs)
    if not given:
        raise DataError(f"{name} holds no graph")
    y = _targets(given, name)
    options: dict[str, Any] = dict(symmetrize=symmetrize, normalize=normalize, features=features)
    checked = [
        from_data(graph, name=f"graph {number} of {name}", **options)
        for number, graph in enumerate(_without_targets(given))
    ]
    _check_features(checked, name)
    if y is not None:
        for number, graph in enumerate(checked):
            graph.y = y[number : number + 1]
    found = GraphList(checked, y, name=name, metric=metric)
    if isinstance(split, Fractions | PerClass):
        if y is None:
            raise DataError(f"{name} has no targets y from which {split} could draw")
        found.set_splits([split.draw(y)])
    elif split is not None:
        found.set_splits([split] if isinstance(split, Split) else split)
    return found


def _without_targets(graphs: Iterable[Any]) -> Iterator[Any]:
    """The graphs without what belongs to the list: their targets, which have one row each."""
    for graph in graphs:
        graph = copy.copy(graph)
        for key in ("y", "splits", "train_mask", "val_mask", "test_mask", "class_names"):
            if getattr(graph, key, None) is not None:
                delattr(graph, key)
        yield graph


def _targets(graphs: Sequence[Any], name: str) -> Tensor | None:
    rows = [getattr(graph, "y", None) for graph in graphs]
    missing = [number for number, row in enumerate(rows) if row is None]
    if len(missing) == len(rows):
        return None
    if missing:
        raise DataError(f"graph {missing[0]} of {name} has no y, but others have; add it")
    tensors = [as_numbers(row, f"the y of {name}").to_dense() for row in rows]
    tensors = [row.reshape(1) if row.dim() == 0 else row for row in tensors]
    for number, row in enumerate(tensors):
        if len(row) != 1 or row.shape != tensors[0].shape:
            raise DataError(
                f"the y of graph {number} of {name} has shape {tuple(row.shape)}, expected "
                f"{(1, *tensors[0].shape[1:])}: one target for the graph. For targets of nodes, "
                "join the graphs: Batch.from_data_list(graphs)"
            )
    return read_targets(torch.cat(tensors), len(tensors), f"the y of {name}")[0]


def _check_features(graphs: Sequence[Any], name: str) -> None:
    for number, graph in enumerate(graphs):
        if getattr(graph, "x", None) is None:
            raise DataError(
                f"graph {number} of {name} has no features; make some from its edges: "
                "features='degree' or features='laplacian'"
            )
        if graph.num_features != graphs[0].num_features:
            raise DataError(
                f"graph {number} of {name} has {graph.num_features} features, graph 0 has "
                f"{graphs[0].num_features}; all graphs need the same number"
            )
