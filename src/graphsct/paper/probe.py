r"""The effect of smoothness control in a trained model, layer by layer.

On one graph and without dropout the term :math:`\mathbf B^l = \mathbf Q \mathbf A^l` is a constant,
so it can be replaced by another one while all weights stay the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.paper.probed import INSTEAD, Accuracies, Changed, FeatureMeasures, LayerTerm, Probed
from graphsct.smoothness.summary import summarize
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded

__all__ = ["probe"]

_PASSES = 20  # with dropout, for the mean of the term
_SHUFFLES = 10


class _Layer(NamedTuple):
    """The input and the output of a control; shape of both: ``(n, d)``."""

    before: Tensor
    term: Tensor


@torch.no_grad()
def probe(model: Any, base: Any, problem: SplitData, seed: int) -> Probed:
    """Measure a trained model with control beside one that was trained without.

    Args:
        model: model with a control in every layer
        base: model that was trained without control
        problem: training data of both
        seed: seed of the dropout and of the shuffles
    """
    if any(conv.control is None for conv in model.convs):
        raise ModelError("a layer of the model has no control, so there is no term to look at")
    model.eval(), base.eval()
    layers = _record(model, problem)
    terms = [layer.term for layer in layers]
    accuracy, changed = _look_at_test_nodes(model, base, problem, terms, seed)
    features = _smoothness(model, base, problem, terms)
    return Probed(
        accuracy,
        changed,
        tuple(
            LayerTerm(
                place + 1,
                _ratio(layer.term.norm(), layer.before.norm()),
                _dimensions(layer.term),
                _root_mean_square(model.convs[place].control),
                *_next(model, problem, layers, place),
                *own,
            )
            for place, (layer, own) in enumerate(zip(layers, features, strict=True))
        ),
    )


def _look_at_test_nodes(
    model: Any, base: Any, problem: SplitData, terms: Sequence[Tensor], seed: int
) -> tuple[Accuracies, Changed]:
    instead = {
        "removed": _zeros(terms),
        "frozen": _mean_with_dropout(model, problem, seed),
        "plain": [term.mean(0).expand_as(term) for term in terms],
    }
    generator = torch.Generator().manual_seed(seed)
    orders = [
        [torch.randperm(term.shape[1], generator=generator) for term in terms]
        for _ in range(_SHUFFLES)
    ]
    shuffled = [
        _classes(model, problem, [term[:, own] for term, own in zip(terms, order, strict=True)])
        for order in orders
    ]
    found = {
        "with_term": _classes(model, problem, []),
        **{name: _classes(model, problem, others) for name, others in instead.items()},
        "shuffled": torch.stack(shuffled),
        "base": _classes(base, problem, []),
    }
    right, ours = problem.y[problem.split.test], found["with_term"]
    return (
        Accuracies(**{name: _share(classes == right) for name, classes in found.items()}),
        Changed(**{name: _share(found[name] != ours) for name in INSTEAD}),
    )


def _share(mask: Tensor) -> float:
    return mask.double().mean().item()


def _classes(model: Any, problem: SplitData, terms: Sequence[Tensor]) -> Tensor:
    with _instead(model, dict(enumerate(terms))):
        scores: Tensor = model(problem.x, *problem.edges)
    return scores[problem.split.test].argmax(dim=1)


def _zeros(terms: Sequence[Tensor]) -> list[Tensor]:
    return [torch.zeros_like(term) for term in terms]


def _mean_with_dropout(model: Any, problem: SplitData, seed: int) -> list[Tensor]:
    twin = copy.deepcopy(model).train()  # a copy, since norms may update running statistics
    with seeded(seed, 2):
        passes = [[layer.term for layer in _record(twin, problem)] for _ in range(_PASSES)]
    return [torch.stack(terms).mean(0) for terms in zip(*passes, strict=True)]


def _smoothness(
    model: Any, base: Any, problem: SplitData, terms: Sequence[Tensor]
) -> Iterator[list[FeatureMeasures]]:
    """For each layer, measures of the features of every network."""
    networks = [_features(model, problem, []), _features(model, problem, _zeros(terms))]
    networks.append(_features(base, problem, []))
    for layer in zip(*networks, strict=True):
        found = (summarize(features, problem.edges[0]) for features in layer)
        yield [FeatureMeasures(s.dead, s.smoothness, s.effective_rank, s.distance) for s in found]


def _features(model: Any, problem: SplitData, terms: Sequence[Tensor]) -> list[Tensor]:
    with _instead(model, dict(enumerate(terms))):
        _, features = model(problem.x, *problem.edges, return_layers=True)
    return list(features[1:])


def _dimensions(term: Tensor) -> float | None:
    r"""How many dimensions use a term, :math:`(\sum_j e_j)^2 / \sum_j e_j^2` with :math:`e_j`
    the squared norm of dimension j: 1 if only one does, d if all do equally.
    """
    energy = term.double().square().sum(0)
    return _ratio(energy.sum().square(), energy.square().sum())


def _root_mean_square(control: torch.nn.Module) -> float:
    weights = torch.cat([weight.flatten() for weight in control.parameters()])
    return weights.square().mean().sqrt().item()


def _next(
    model: Any, problem: SplitData, layers: Sequence[_Layer], place: int
) -> tuple[float | None, float | None]:
    r"""The effect of a layer's term in the next layer.

    Let :math:`\mathbf C` be the change that the term causes in the next layer's coordinates,
    before that layer adds its own :math:`\mathbf A`. Returned are the size of :math:`\mathbf C`
    over that of the term, and the cosine of :math:`\mathbf C` and :math:`\mathbf A`, -1 if the
    next layer undoes the change. ``None`` in the last layer, and where a norm is zero.
    """
    if place + 1 == len(layers):
        return None, None
    graph: Graph = problem.edges[0]
    term, after = layers[place].term, layers[place + 1]
    without = _record(model, problem, {place: torch.zeros_like(term)})[place + 1]
    change = graph.pool(after.before - without.before).double()
    own = graph.pool(after.term).double()
    return (
        _ratio(change.norm(), term.double().norm()),
        _ratio((change * own).sum(), change.norm() * own.norm()),
    )


def _ratio(value: Tensor, whole: Tensor) -> float | None:
    return (value / whole).item() if whole > 0 else None


def _record(
    model: Any, problem: SplitData, terms: Mapping[int, Tensor] | None = None
) -> list[_Layer]:
    """Run a model, with some of its terms replaced, and record its controls."""
    seen: list[_Layer] = []

    def listen(control: Any, given: Any, term: Tensor) -> None:
        seen.append(_Layer(given[0], term))

    with ExitStack() as stack:
        stack.enter_context(_instead(model, terms or {}))
        for conv in model.convs:
            stack.enter_context(conv.control.register_forward_hook(listen))
        model(problem.x, *problem.edges)
    return seen


@contextmanager
def _instead(model: Any, terms: Mapping[int, Tensor]) -> Iterator[None]:
    """Replace the terms of some layers by tensors."""
    with ExitStack() as stack:
        for place, term in terms.items():
            control = model.convs[place].control
            stack.enter_context(control.register_forward_hook(lambda *_, term=term: term))
        yield
