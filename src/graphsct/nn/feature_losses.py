"""Penalties on features that collapse from the first to the last convolution."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph.autocast import widened
from graphsct.graph.cache import as_graph
from graphsct.names import pick
from graphsct.nn.checks import check_positive
from graphsct.nn.drops import without_drops
from graphsct.smoothness import effective_rank, normalized_dirichlet_energy

__all__ = ["FEATURE_LOSSES", "FeatureLoss", "add_feature_loss"]

#: ``measure(x, given)`` of the output of a convolution, from its arguments by name.
Measure = Callable[[Tensor, Mapping[str, Any]], Tensor]


def _energy(x: Tensor, given: Mapping[str, Any]) -> Tensor:
    graph = as_graph(given["edge_index"], given.get("edge_weight"), x)
    return normalized_dirichlet_energy(x, without_drops(graph))


def _rank(x: Tensor, given: Mapping[str, Any]) -> Tensor:
    return effective_rank(x)


#: The measures that must not fall, by the name of the loss.
FEATURE_LOSSES: dict[str, Measure] = {"dirichlet_loss": _energy, "rank_loss": _rank}

# Smaller energies are those of rounding errors.
_SMALLEST = 1e-12


class FeatureLoss:
    r"""A penalty if a measure of the features falls between two convolutions:

    .. math::
        w \max\big(0, \log m(\mathbf X^1) - \log m(\mathbf X^L)\big)

    with the outputs :math:`\mathbf X^1` and :math:`\mathbf X^L` of the first and the last hidden
    convolution in training, before any norm and activation. The measure :math:`m` of
    ``dirichlet_loss`` is the normalized Dirichlet energy, on the graph that the convolution gets;
    that of ``rank_loss`` is the effective rank.

    These are regularisers in the spirit of two papers, not their methods. `Zhou et al. (2021)
    <https://arxiv.org/abs/2107.02392>`_ bound the energy of each layer from below, by the start of
    the weights and a residual connection. `Roth and Liebig (2023)
    <https://arxiv.org/abs/2308.16800>`_ explain over-smoothing by the collapse of the rank, and
    propose sums of Kronecker products against it.

    The first features are a constant to the gradient: the penalty cannot be lowered by collapsing
    them as well.

    A call returns the penalty of the last training pass with that of the model itself, and lets go
    of the features: the next call needs another pass.

    Args:
        name: a name in :data:`FEATURE_LOSSES`
        weight: the weight :math:`w`
        before: the model's own penalty, or none
    """

    def __init__(self, name: str, weight: float, before: Callable[[], Tensor] | None) -> None:
        self.name, self.weight, self._before = name, weight, before
        self._kept: list[tuple[Tensor, Mapping[str, Any]]] = []

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the features of a pass."""
        return {**vars(self), "_kept": []}

    def keep_first(self, conv: torch.nn.Module, args: Any, kwargs: Any, out: Any) -> None:
        """Keep the output of the first convolution; a hook of it."""
        self._kept.clear()
        self.keep_last(conv, args, kwargs, out)

    def keep_last(self, conv: torch.nn.Module, args: Any, kwargs: Any, out: Any) -> None:
        """Keep the output of the last convolution; a hook of it."""
        if conv.training:
            given = inspect.signature(conv.forward).bind(*args, **kwargs).arguments
            self._kept.append((widened(out[0] if isinstance(out, tuple) else out), given))

    def __call__(self) -> Tensor:
        """The penalty."""
        total = torch.zeros(()) if self._before is None else self._before()
        kept, self._kept = self._kept, []
        if not kept:
            return total
        with torch.no_grad():
            first = self._log(*kept[0])
        return total + self.weight * torch.relu(first - self._log(*kept[-1]))

    def _log(self, x: Tensor, given: Mapping[str, Any]) -> Tensor:
        if not bool(x.isfinite().all()):
            return x.new_tensor(torch.nan)  # the loss, too, by which the run ends
        return (FEATURE_LOSSES[self.name](x, given) + _SMALLEST).log()


def add_feature_loss(
    model: Any, convs: Iterable[torch.nn.Module], name: str, weight: float
) -> None:
    """Add a :class:`FeatureLoss` to the ``penalty()`` of a model, in place.

    Training by :func:`graphsct.fit` adds it to the loss. In a training loop of your own, write
    ``loss = loss + model.penalty()``.

    Args:
        model: any model
        convs: its hidden convolutions, in order
        name: a name in :data:`FEATURE_LOSSES`
        weight: weight of the penalty

    Example:
        >>> from graphsct.datasets import demo
        >>> from graphsct.nn import GCN
        >>> data = demo()
        >>> model = GCN(data.num_features, 8, data.num_classes, num_layers=8, init="glorot")
        >>> add_feature_loss(model, model.convs, "rank_loss", 0.1)
        >>> scores = model.train()(data.x, data.graph)
        >>> bool(model.penalty() > 0)
        True
    """
    pick(FEATURE_LOSSES, name, "loss")
    weight = check_positive(weight, name)
    found = list(convs)
    if len(found) < 2:
        raise ModelError(
            f"{name} compares the last hidden convolution with the first, but "
            f"{type(model).__name__} has fewer than two of them; add layers"
        )
    ends = found[0], found[-1]
    for conv in ends:
        if "edge_index" not in inspect.signature(conv.forward).parameters:
            raise ModelError(
                f"{name} is for convolutions, but {type(conv).__name__}.forward has no edge_index"
            )
    loss = FeatureLoss(name, weight, getattr(model, "penalty", None))
    for conv, hook in zip(ends, (loss.keep_first, loss.keep_last), strict=True):
        conv.register_forward_hook(hook, with_kwargs=True)
    setattr(model, name, weight)
    model.penalty = loss
