"""Training data, checked once before they are used."""

from __future__ import annotations

import copy
import inspect
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Self

import torch
from torch import Tensor

from graphsct.datasets.features import sparse_features
from graphsct.datasets.splits import Split, check_split
from graphsct.datasets.targets import check_targets, only
from graphsct.errors import DataError, GraphsctError, ModelError
from graphsct.graph import Graph
from graphsct.graph.autocast import is_active
from graphsct.graph.cache import as_graph, graph_of
from graphsct.nn.model import Model
from graphsct.training.device import Mover
from graphsct.training.fingerprint import digest
from graphsct.training.objective import Objective
from graphsct.training.precision import check_precision

__all__ = [
    "SplitData",
    "TrainingData",
    "count_splits",
    "read_edges",
    "read_features",
    "read_split",
]

_PARTS = ("train", "val", "test")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Everything that training may look at: features, edges, targets and two masks.

    It has no test nodes; :class:`SplitData` adds them.

    Args:
        x: features, dense or sparse CSR; shape: ``(n, d)``
        edges: the arguments of a model after the features: a graph, or ``edge_index`` and perhaps
            ``edge_weight``
        y: targets, see :mod:`graphsct.datasets.targets`; shape: ``(n,)`` or ``(n, t)``
        train: mask; shape: ``(n,)``
        val: mask; shape: ``(n,)``
        name: name of the data
        inputs: the arguments of the model; default to the features and the edges
        objective: the loss and the metric
        autocast: the lower precision of a model's operations, if there is one
    """

    x: Tensor
    edges: tuple[Any, ...]
    y: Tensor
    train: Tensor
    val: Tensor
    name: str
    inputs: tuple[Any, ...] = ()
    objective: Objective = field(default_factory=Objective)
    autocast: torch.dtype | None = None

    def given_to(self, model: torch.nn.Module, data: Any) -> Self:
        """The same data with the arguments of a model that is not of :mod:`graphsct.nn`.

        It gets dense features and an ``edge_index``, or the data if they are its only argument.

        Args:
            model: the model
            data: the ``Data`` that these were read from
        """
        x = self.x.to_dense() if self.x.layout != torch.strided else self.x
        edges = read_edges(data, self.name, plain=True)
        return replace(self, x=x, edges=edges, inputs=_inputs(model, data, x, edges))

    def moved_by(self, mover: Mover) -> Self:
        """The same data on the device of a mover."""
        return replace(self, **{own.name: mover(getattr(self, own.name)) for own in fields(self)})

    def in_precision(self, name: str | None) -> Self:
        """The same data for models in a precision of :data:`~graphsct.training.PRECISIONS`."""
        return replace(self, autocast=None if name is None else check_precision(name, self.x))

    def scores(self, model: torch.nn.Module) -> Tensor:
        """The output of a model on these data, or an error that says why there is none."""
        return self.call(model, *(self.inputs or (self.x, *self.edges)))

    def call(self, model: torch.nn.Module, /, *given: Any, **named: Any) -> Tensor:
        """The output of a model in the precision of these data, or an error that says why there is
        none.

        Args:
            model: the model
            given: its positional arguments
            named: its keyword arguments
        """
        low = self.autocast
        try:
            with nullcontext() if low is None else torch.autocast(self.x.device.type, low):
                scores: Tensor = model(*given, **named)
        except Exception as error:
            reason = _explain(model, (*given, *named.values()), self, error)
            if reason is None:
                raise
            raise ModelError(reason) from error
        return scores.float() if isinstance(scores, Tensor) and scores.dtype == low else scores

    @torch.no_grad()
    def evaluate(self, model: torch.nn.Module) -> Tensor:
        """Put a model into evaluation mode, and return its output."""
        return self.scores(model.eval())

    def loss(self, scores: Tensor, nodes: Tensor) -> Tensor:
        """Mean loss of some nodes."""
        return self.objective.loss(scores[nodes], self.y[nodes])

    def score(self, scores: Tensor, nodes: Tensor) -> Tensor:
        """The metric of some nodes."""
        return self.objective.score(scores[nodes], self.y[nodes])

    def check_scores(self, scores: Any) -> None:
        """Raise an error if the output of a model cannot be scores for these targets."""
        self.objective.check_scores(scores, self.y, self._used(), self.name)

    def _used(self) -> Tensor:
        return self.train | self.val


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitData(TrainingData):
    """Training data with one whole split, test nodes included.

    Args:
        split: three masks; shape of each: ``(n,)``
    """

    split: Split

    @classmethod
    def of(
        cls,
        data: Any,
        split: int | Split | None = None,
        *,
        model: torch.nn.Module | None = None,
        metric: str | None = None,
    ) -> SplitData:
        """Check a ``Data``, and read one of its splits.

        Args:
            data: with ``x``, ``y``, ``graph`` or ``edge_index``, and masks
            split: the number of one of the data's splits, or masks of your own; defaults to
                ``train_mask``, ``val_mask`` and ``test_mask``
            model: the model that takes the data; defaults to one of :mod:`graphsct.nn`
            metric: name of the metric; defaults to ``data.metric``, or to that of the kind of
                targets
        """
        name = str(getattr(data, "name", None) or "the data")
        x = read_features(data, name)
        y, masks, objective = read_split(data, split, metric, name)
        if len(x) != len(y):
            raise DataError(f"{name}: there are features of {len(x)} nodes, but labels of {len(y)}")
        found = cls(x, (), y, masks.train, masks.val, name, objective=objective, split=masks)
        if model is not None and not isinstance(model, Model):
            return found.given_to(model, data)
        x, edges = sparse_features(x), read_edges(data, name, plain=False)
        if x.dtype in (torch.float32, torch.float64):
            weight = edges[1] if len(edges) > 1 else None
            edges = (as_graph(edges[0], weight, x).to(x.dtype),)
        return replace(found, x=x, edges=edges)

    def blind(self) -> TrainingData:
        """The same data without test nodes, with the targets of the two masks only."""
        own = {each.name: getattr(self, each.name) for each in fields(TrainingData)}
        return TrainingData(**own | {"y": only(self.y, super()._used()), "inputs": ()})

    def test_score(self, model: torch.nn.Module) -> float:
        """The metric of the test nodes, with the model in evaluation mode."""
        return self.score(self.evaluate(model), self.split.test.nonzero()[:, 0]).item()

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """Plain values, equal only for the same data."""
        edges = self.edges
        if isinstance(edges[0], Graph):
            edges = (edges[0].matrix,)
        return {
            "name": self.name,
            "features": digest(self.x),
            "edges": " ".join(digest(tensor) for tensor in edges),
            "labels": digest(self.y),
            **{f"{k}_mask": digest(mask) for k, mask in self.split._asdict().items()},
            # Other devices have other random numbers; the files of runs on a CPU stay as they were.
            **({} if self.x.is_cpu else {"device": self.x.device.type}),
        }

    def _used(self) -> Tensor:
        return super()._used() | self.split.test


def _inputs(
    model: torch.nn.Module, data: Any, x: Tensor, edges: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The data for a model with one required argument that is not ``x``, else features and edges.

    A model that takes fewer arguments gets the first of them.
    """
    taken = inspect.signature(model.forward).parameters.values()
    positional = [p for p in taken if p.kind in _POSITIONAL]
    required = [p for p in positional if p.default is p.empty]
    if len(required) == 1 and required[0].name != "x":
        if data.x is not x:
            data = copy.copy(data)
            data.x = x
        return (data,)
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in taken):
        return (x, *edges)
    return (x, *edges)[: max(1, len(positional))]


def _explain(
    model: torch.nn.Module, given: tuple[Any, ...], data: TrainingData, error: Exception
) -> str | None:
    """Why a forward pass failed and what to do about it; ``None`` if the error says so itself."""
    name, weights, x = type(model).__name__, list(model.parameters()), data.x
    devices = {str(weight.device) for weight in weights} - {str(x.device)}
    if devices:
        return (
            f"{name} has weights on {min(devices)}, but the data are on {x.device}; move one of "
            f"them: model.to({str(x.device)!r}), or data.to({min(devices)!r})"
        )
    if data.autocast is not None or is_active(x.device):
        way_out = (
            "train outside of the autocast context"
            if data.autocast is None
            else "train it without precision=..."
        )
        return (
            f"{name} failed under torch.autocast, which gives it features of lower precision: "
            f"{_summary(error)}; {way_out}, or use autocast inside the model where its layers "
            "allow it"
        )
    if isinstance(error, GraphsctError):
        return None
    kinds = {weight.dtype for weight in weights if weight.is_floating_point()} - {x.dtype}
    if kinds:
        kind = min(kinds, key=str)
        return (
            f"{name} has {kind} weights, but the features are {x.dtype}: {_summary(error)}; cast "
            f"one of them: data.x = data.x.to({kind}), or model.to({x.dtype})"
        )
    shown = ", ".join(
        f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        for value in given
    )
    return (
        f"{name} failed when called with {shown}: {_summary(error)}; a model takes the features, "
        "the edge_index and perhaps the edge_weight (and the batch of a list of graphs), or the "
        "data as its only argument"
    )


def _summary(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def count_splits(data: Any) -> int:
    """Number of splits of the data."""
    splits, mask = getattr(data, "splits", None), getattr(data, "train_mask", None)
    if splits:
        return len(splits)
    return mask.shape[1] if isinstance(mask, Tensor) and mask.dim() == 2 else 1


def read_split(
    data: Any, split: int | Split | None, metric: str | None, name: str, of: str = "nodes"
) -> tuple[Tensor, Split, Objective]:
    """The targets of some data, the masks of one of their splits, and the objective.

    Args:
        data: with ``y`` and masks
        split: as for :meth:`SplitData.of`
        metric: as for :meth:`SplitData.of`
        name: name of the data, for errors
        of: what the targets belong to, for errors
    """
    y = check_targets(getattr(data, "y", None), where=f"{name}.y")
    objective = Objective.of(y, metric or getattr(data, "metric", None))
    masks = _masks(data, split, name)
    where = f"split {split} of {name}" if isinstance(split, int) else f"the split of {name}"
    check_split(masks, y, every_class=False, where=where)
    for part, mask in masks._asdict().items():
        objective.metric.check(y[mask], f"the {part} {of} of {where}")
    return y, masks, objective


def read_features(data: Any, name: str) -> Tensor:
    """The features of a ``Data``, which must be finite numbers; shape: ``(n, d)``."""
    x = getattr(data, "x", None)
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise DataError(f"{name}: the features x are {what}, expected a float tensor (n, d)")
    if x.is_meta:
        raise DataError(f"{name}: the features x are on 'meta', where tensors have no values")
    if x.layout not in (torch.strided, torch.sparse_csr):
        x = x.to_sparse_csr()
    values = x if x.layout == torch.strided else x.values()
    bad = (~torch.isfinite(values)).nonzero()
    if len(bad):
        place = bad[0].tolist()
        if x.layout == torch.sparse_csr:
            row = int(torch.searchsorted(x.crow_indices(), place[0], right=True)) - 1
            place = [row, int(x.col_indices()[place[0]])]
        raise DataError(
            f"{name}: feature {place[1]} of node {place[0]} is {values[tuple(bad[0])].item()} "
            f"(values that are not finite: {len(bad)}); replace them, for example by zero"
        )
    return x


def _masks(data: Any, split: Any, name: str) -> Split:
    if isinstance(split, tuple):
        masks = Split(*split)
    elif isinstance(split, int) and getattr(data, "splits", None):
        if not 0 <= split < len(data.splits):
            count = len(data.splits)
            raise DataError(f"{name} has {count} splits; split {split} is not among them")
        masks = data.splits[split]
    else:
        named: list[Any] = [getattr(data, f"{part}_mask", None) for part in _PARTS]
        if split is not None:
            named = [_column(mask, split, name) for mask in named]
        masks = Split(*named)
    for part, mask in zip(_PARTS, masks, strict=True):
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            what = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise DataError(f"{name}: the {part} mask is {what}, expected a torch.bool tensor (n,)")
        if mask.dim() == 2:
            raise DataError(f"{name} has {mask.shape[1]} splits; choose one with split=0, 1, ...")
    return masks


def _column(mask: Any, split: int, name: str) -> Tensor:
    count = mask.shape[1] if isinstance(mask, Tensor) and mask.dim() == 2 else 0
    if not (isinstance(split, Integral) and 0 <= split < count):
        raise DataError(f"{name} has {count} numbered splits; split {split!r} is not among them")
    column: Tensor = mask[:, split]
    return column


def read_edges(data: Any, name: str, plain: bool) -> tuple[Any, ...]:
    """The arguments of a model after the features.

    Args:
        data: with a ``graph`` or an ``edge_index``, and perhaps ``edge_weight``
        name: name of the data, for errors
        plain: prefer ``edge_index``, which any model takes, to the graph
    """
    edge_index, weight = getattr(data, "edge_index", None), getattr(data, "edge_weight", None)
    if (edge_index is None or not plain) and getattr(data, "graph", None) is not None:
        return (graph_of(data),)
    if edge_index is None:
        raise DataError(f"{name} has neither a graph nor an edge_index")
    return (edge_index,) if weight is None else (edge_index, weight)
