"""The diagnosis of a model, layer by layer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.graph_list import GraphList
from graphsct.datasets.targets import check_targets, labelled, num_outputs
from graphsct.diagnosis.advice import Patient, advise
from graphsct.diagnosis.calling import Call, prepare, undisturbed
from graphsct.diagnosis.card import describe_graph
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.influence import measure_influence
from graphsct.diagnosis.layers import find_features, find_layers
from graphsct.diagnosis.measure import Contrast, check_finite, measure, measure_entry
from graphsct.diagnosis.record import Layer, Recorder
from graphsct.diagnosis.standing import (
    SplitScores,
    Standing,
    Targets,
    measure_standing,
    score_without_edges,
)
from graphsct.diagnosis.verdict import Thresholds
from graphsct.errors import DataError, DirectedGraphError, GraphsctError, ModelError
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.nn.checks import check_flag, check_module
from graphsct.training.data import count_splits, read_split
from graphsct.training.graphs import as_graphs, join
from graphsct.training.objective import Objective

#: A user's function of the output of a model and its data.
Loss = Callable[[Any, Any], Tensor]

__all__ = ["Loss", "as_one_graph", "classified", "diagnose", "measured_graph"]


def diagnose(
    model: torch.nn.Module,
    data: Any,
    *,
    layers: Sequence[str] | None = None,
    graph: Graph | None = None,
    call: Call | None = None,
    loss: Loss | None = None,
    split: int | None = None,
    metric: str | None = None,
    rival: bool | SplitScores = True,
    influence: bool = True,
    thresholds: Thresholds | None = None,
    reach: bool = True,
) -> Diagnosis:
    """Find out whether a model works, which layers are over-smoothed, dead or without gradient, and
    what to try.

    The model runs a few times forward and backward, in evaluation mode. Its weights, its gradients,
    the mode of each of its parts and PyTorch's random numbers are left unchanged. If it is on
    another device than the data, a copy on the device of the data is diagnosed.

    Args:
        model: any model of features and edges, or of the data; see
            :func:`~graphsct.diagnosis.arguments` for how it is called
        data: data of :func:`graphsct.datasets.load`, any PyTorch Geometric ``Data``, or a list of
            graphs, which is measured as one graph with a component or more for each; with ``y``
            and ``train_mask``, gradients of the training loss are measured, without them gradients
            of the output in a random direction
        layers: names of its layers, if :func:`~graphsct.diagnosis.find_layers` gets them wrong
        graph: undirected graph to measure on; defaults to that of the data
        call: how to call the model, ``lambda model, data: model(...)``
        loss: the value whose gradients are measured, ``lambda output, data: ...``, for an output
            of any shape; defaults to the training loss
        split: number of the split on which the model is scored, if the data have several;
            defaults to the first
        metric: name of the metric of the scores; defaults to that of the data
        rival: also train a network without edges, for a second or so, if there are labels; or the
            scores of such a network, from :func:`~graphsct.diagnosis.score_without_edges`
        influence: also measure how far the influence of nodes reaches
        thresholds: the limits of the verdicts
        reach: also compute the smoothness that control could reach in each layer, the slowest part

    Example:
        >>> from graphsct.datasets import demo
        >>> from torch_geometric.nn import GCN
        >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
        <...>
        >>> found = diagnose(GCN(16, 32, num_layers=24, out_channels=3), demo())
        >>> found.works, [finding.kind for finding in found.inside]
        (False, ['over-smoothed', 'vanishing gradient'])
    """
    check_module(model)
    check_flag(reach, "reach")
    check_flag(influence, "influence")
    _check_one_type(data)
    own = as_graphs(data)
    data = as_one_graph(own)
    graph = measured_graph(data) if graph is None else graph
    model = _beside(data, model)
    targets = _targets(own, split, metric)
    run = prepare(model, data, call)
    with undisturbed(model):
        names = find_layers(model, run, graph.num_nodes, layers)
        with torch.enable_grad():
            with Recorder(model, names, graph.num_nodes) as recorder:
                output = prepare(model, data, call, track=True)()
            recorded = recorder.layers()
            _check(recorded, names, graph)
            target, what = _target(output, data, targets, loss)
            wanted = [layer.features for layer in recorded]
            entry = recorder.entry if recorder.entry is not None else wanted[0]
            gradients = torch.autograd.grad(
                target, [*wanted, entry], allow_unused=True, retain_graph=True
            )
            last = find_features(output, graph.num_nodes)
            reached = (
                measure_influence(last, entry, graph) if influence and last is not None else None
            )
        standing = None if targets is None else _standing(model, data, call, output, targets)
    if standing is not None and rival:
        known = rival if isinstance(rival, SplitScores) else None
        beside = known or score_without_edges(own, split, metric)
        standing = replace(standing, without_edges=beside)
    first = recorded[0].features
    on = graph.to(first.device, first.dtype if first.dtype == torch.float64 else torch.float32)
    contrast = Contrast(on)
    reports = tuple(
        measure(layer, gradient, contrast, reach=reach)
        for layer, gradient in zip(recorded, gradients[:-1], strict=True)
    )
    several = getattr(data, "num_graphs", 1) > 1
    directions = None
    if targets is not None and _scores(output, targets) is not None:
        directions = targets.directions
    found = Diagnosis(
        model=type(model).__name__,
        data=str(getattr(data, "name", None) or "data"),
        graph=describe_graph(graph, classified(data, graph.num_nodes)),
        directions=directions,
        target=what,
        entry=measure_entry(entry, gradients[-1], contrast),
        room=contrast.room,
        layers=reports,
        findings=(),
        advice=(),
        standing=standing,
        influence=reached,
    ).judged(thresholds or Thresholds())
    components = None if several else graph.num_components
    patient = Patient(model, reports, found.findings, components)
    return replace(found, advice=advise(patient))


def _check_one_type(data: Any) -> None:
    """Raise an error for heterogeneous data."""
    if hasattr(data, "node_types"):
        raise DataError(
            "the data have nodes of several types, whose features have no common graph; diagnose "
            "the model on one type: graphsct.diagnose(model, data, ...) takes a Data, such as "
            "data.to_homogeneous(), and torch_geometric.utils.get_embeddings_hetero(model, data) "
            "gives the features of each type for the measures of graphsct.smoothness"
        )


def _beside(data: Any, model: torch.nn.Module) -> torch.nn.Module:
    """The model on the device of the data, a copy if it is on another."""
    x, weight = getattr(data, "x", None), next(model.parameters(), None)
    if not isinstance(x, Tensor) or weight is None or weight.device == x.device:
        return model
    return copy.deepcopy(model).to(x.device)


def _check(recorded: list[Layer], names: list[str], graph: Graph) -> None:
    if not recorded:
        raise ModelError(
            f"none of the layers {', '.join(names)} gave features of shape ({graph.num_nodes}, d)"
        )
    for layer in recorded:
        check_finite(layer)


def measured_graph(data: Any) -> Graph:
    """The undirected graph of some data, on which smoothness is measured; a list of graphs is
    joined to one.
    """
    try:
        return graph_of(as_one_graph(data))
    except DirectedGraphError as error:
        raise DirectedGraphError(
            f"{error}. To keep them directed for the model and measure smoothness on an undirected "
            "graph, pass one as graph=Graph(edge_index, num_nodes, symmetrize=True)"
        ) from error


def as_one_graph(data: Any) -> Any:
    """A list of graphs as one ``Batch`` with the targets of the graphs; other data unchanged."""
    found = as_graphs(data)
    if not isinstance(found, GraphList):
        return found
    batch = join(found.graphs)
    batch.name, batch.y = found.name, found.y
    if found.splits:
        batch.train_mask = found.train_mask
    return batch


def classified(data: Any, num_nodes: int | None = None) -> Tensor | None:
    """The class of each node, if the data have classes; shape: ``(n,)``."""
    y = getattr(data, "y", None)
    if not isinstance(y, Tensor) or y.dim() != 1 or y.dtype != torch.long:
        return None
    return None if num_nodes not in (None, len(y)) else y


def _targets(data: Any, split: int | None, metric: str | None) -> Targets | None:
    """The targets in the data with the masks of a split, ``None`` if there are none."""
    y, mask = getattr(data, "y", None), getattr(data, "train_mask", None)
    if not isinstance(y, Tensor) or not isinstance(mask, Tensor):
        return None
    count = count_splits(data)
    if split is not None and split not in range(count):
        raise DataError(f"split is {split!r}, but the data have splits 0 .. {count - 1}")
    if split is None and mask.dim() == 2:
        split = 0
    if metric is not None:
        Objective.of(check_targets(y), metric)  # or an error: it is not for these targets
    try:
        y, masks, objective = read_split(data, split, metric, "the data")
    except GraphsctError:  # such as masks without validation nodes
        try:
            y = check_targets(y)
        except DataError:
            return None
        train = (mask[:, split or 0] if mask.dim() == 2 else mask) & labelled(y)
        return Targets(y, train, None, Objective.of(y)) if bool(train.any()) else None
    return Targets(y, masks.train, masks.val, objective)


def _scores(output: Any, targets: Targets) -> Tensor | None:
    """The part of an output that predicts the targets."""
    scores = find_features(output, len(targets.y))
    if scores is None:
        flat = output if isinstance(output, Tensor) else None
        if flat is None or flat.shape != targets.y.shape or not flat.is_floating_point():
            return None
        scores = flat.reshape(len(flat), -1)
    wide = scores.shape[1]
    return scores if wide == num_outputs(targets.y) else None


@torch.no_grad()
def _standing(
    model: torch.nn.Module, data: Any, call: Call | None, output: Any, targets: Targets
) -> Standing | None:
    """How well a model does its task, ``None`` if its output is not an answer to it."""
    scores = _scores(output, targets)
    if scores is None:
        return None

    def again(other: Any) -> Tensor:
        found = _scores(prepare(model, other, call)(), targets)
        return scores.new_zeros(0) if found is None else found

    return measure_standing(scores.detach(), targets, again, data, model)


def _target(
    output: Any, data: Any, targets: Targets | None, loss: Loss | None
) -> tuple[Tensor, str]:
    """The value to differentiate, and its description."""
    if loss is not None:
        value = loss(output, data)
        if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
            raise ModelError(
                "loss(output, data) must return one number that depends on the output, a tensor "
                "with a gradient"
            )
        return value.sum(), "your loss"
    scores = None if targets is None else _scores(output, targets)
    if targets is not None and scores is not None:
        nodes = targets.train & labelled(targets.y)
        of = "nodes" if len(scores) == data.num_nodes else "graphs"
        return targets.objective.loss(scores[nodes], targets.y[nodes]), (
            f"the loss of the training {of}"
        )
    parts = [part for part in _tensors(output) if part.requires_grad]
    if not parts:
        raise ModelError(
            "the model returned no float tensor that depends on its features; pass "
            "call=lambda model, data: ... that returns one"
        )
    generator = torch.Generator().manual_seed(0)
    directions = [torch.randn(part.shape, generator=generator).to(part) for part in parts]
    total = sum((a * b).sum() for a, b in zip(directions, parts, strict=True))
    return torch.as_tensor(total), "the output in a random direction"


def _tensors(value: Any) -> Iterator[Tensor]:
    """All dense float tensors in an output."""
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.layout == torch.strided:
            yield value
    elif isinstance(value, Mapping):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)
