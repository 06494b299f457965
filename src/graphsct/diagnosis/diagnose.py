"""The diagnosis of a model, layer by layer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from graphsct.datasets.graph_list import GraphList
from graphsct.diagnosis.advice import advise
from graphsct.diagnosis.calling import Call, prepare, undisturbed
from graphsct.diagnosis.card import describe_graph
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.layers import find_features, find_layers
from graphsct.diagnosis.measure import Contrast, check_finite, measure
from graphsct.diagnosis.record import Layer, Recorder
from graphsct.diagnosis.verdict import Thresholds, judge
from graphsct.errors import DirectedGraphError, ModelError
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.training.graphs import as_graphs, join

__all__ = ["as_one_graph", "classified", "diagnose", "measured_graph"]


def diagnose(
    model: torch.nn.Module,
    data: Any,
    *,
    layers: Sequence[str] | None = None,
    graph: Graph | None = None,
    call: Call | None = None,
    thresholds: Thresholds | None = None,
    reach: bool = True,
) -> Diagnosis:
    """Find out whether a model over-smooths, dies or gets no gradient, in which layer, and what
    to try.

    The model runs twice forward and once backward, in evaluation mode. Its weights, its gradients,
    the mode of each of its parts and PyTorch's random numbers are left unchanged. If it is on
    another device than the data, a copy of it is diagnosed on theirs.

    Args:
        model: any model of features and edges, or of the data; see
            :func:`~graphsct.diagnosis.arguments` for how it is called
        data: data of :func:`graphsct.datasets.load`, any PyTorch Geometric ``Data``, or a list of
            graphs, which is measured as one graph with a component or more for each; with ``y``
            and ``train_mask`` the gradients are those of the training loss, without them those of
            the output in a random direction
        layers: names of its layers, if :func:`~graphsct.diagnosis.find_layers` gets them wrong
        graph: undirected graph to measure on; defaults to that of the data
        call: how to call the model, ``lambda model, data: model(...)``
        thresholds: the limits of the verdicts
        reach: also compute the range of control in each layer, which takes the longest

    Example:
        >>> from graphsct.datasets import demo
        >>> from torch_geometric.nn import GCN
        >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
        <...>
        >>> found = diagnose(GCN(16, 32, num_layers=24, out_channels=3), demo())
        >>> len(found.layers), [finding.kind for finding in found.findings]
        (24, ['over-smoothed', 'vanishing gradient'])
    """
    data = as_one_graph(data)
    graph = measured_graph(data) if graph is None else graph
    model = _beside(data, model)
    run = prepare(model, data, call)
    with undisturbed(model):
        names = find_layers(model, run, graph.num_nodes, layers)
        with torch.enable_grad():
            with Recorder(model, names, graph.num_nodes) as recorder:
                output = prepare(model, data, call, track=True)()
            recorded = recorder.layers()
            _check(recorded, names, graph)
            target, what = _target(output, data, graph.num_nodes)
            wanted = [layer.features for layer in recorded]
            entry = recorder.entry if recorder.entry is not None else wanted[0]
            gradients = torch.autograd.grad(target, [*wanted, entry], allow_unused=True)
    first = recorded[0].features
    on = graph.to(first.device, first.dtype if first.dtype == torch.float64 else torch.float32)
    contrast = Contrast(on)
    reports = tuple(
        measure(layer, gradient, contrast, reach=reach)
        for layer, gradient in zip(recorded, gradients[:-1], strict=True)
    )
    into = gradients[-1]
    entry_gradient = 0.0 if into is None else torch.linalg.vector_norm(into, dtype=torch.double)
    classes = _classes(data)
    limits = thresholds or Thresholds()
    several = getattr(data, "num_graphs", 1) > 1
    findings = judge(reports, float(entry_gradient), classes, limits)
    return Diagnosis(
        model=type(model).__name__,
        data=str(getattr(data, "name", None) or "data"),
        graph=describe_graph(graph, classified(data, graph.num_nodes)),
        classes=classes,
        target=what,
        entry_gradient=float(entry_gradient),
        layers=reports,
        findings=findings,
        advice=advise(findings, len(reports), None if several else graph.num_components),
        thresholds=limits,
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
    """Other data as they are, a list of graphs as a ``Batch`` with the targets of the graphs."""
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


def _labels(data: Any) -> tuple[Tensor, Tensor] | None:
    """Labels and training nodes, if the data have them."""
    y, mask = classified(data), getattr(data, "train_mask", None)
    if y is None or not isinstance(mask, Tensor):
        return None
    nodes = mask[:, 0] if mask.dim() == 2 else mask
    return y, nodes & (y >= 0)


def _classes(data: Any) -> int | None:
    labels = _labels(data)
    return None if labels is None else int(labels[0].max()) + 1


def _target(output: Any, data: Any, num_nodes: int) -> tuple[Tensor, str]:
    """The value to differentiate, and its description."""
    scores = find_features(output, num_nodes)
    if scores is None:
        scores = find_features(output, getattr(data, "num_graphs", 1))
    if scores is None:
        raise ModelError(
            f"the model returned no float matrix with {num_nodes} rows, one per node, nor with one "
            "per graph"
        )
    labels = _labels(data)
    if labels is not None and len(labels[0]) != len(scores):
        labels = None
    if labels is not None and int(labels[0].max()) < scores.shape[1] and bool(labels[1].any()):
        y, nodes = labels
        what = "nodes" if len(y) == num_nodes else "graphs"
        return functional.cross_entropy(scores[nodes], y[nodes]), f"the loss of the training {what}"
    generator = torch.Generator().manual_seed(0)
    direction = torch.randn(scores.shape, generator=generator).to(scores)
    return (direction * scores).sum(), "the output in a random direction"
