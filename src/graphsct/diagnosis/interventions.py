"""Experiments that tell the causes of a failure apart.

Over-smoothing, vanishing gradients and the collapse of rank come together in deep networks, and
measures alone cannot tell which of them stops a model from learning. Short trainings of the same
model with one thing changed can: without edges nothing is smoothed; with weights that start at the
identity, or at a scale that keeps the size of the features, nothing fades.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from graphsct.diagnosis.calling import Call, prepare, trainable, undisturbed
from graphsct.diagnosis.cause import Cause, Intervention, conclude
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.layers import find_features
from graphsct.diagnosis.standing import SplitScores, without_edges
from graphsct.errors import ModelError
from graphsct.training.config import TrainConfig
from graphsct.training.fit import fit
from graphsct.training.seeding import seeded

__all__ = ["find_cause"]

#: Changes a model with a diagnosis; the function runs the model.
Change = Callable[[nn.Module, Diagnosis, Callable[[], Any]], None]


def find_cause(
    found: Diagnosis,
    model: nn.Module,
    data: Any,
    *,
    split: Any = None,
    call: Call | None = None,
    epochs: int = 60,
    seed: int = 0,
) -> Diagnosis:
    """Find out by experiment why a model does not learn.

    Copies of the model get new weights and are trained for a few epochs: as they are, without
    edges, with identity weights, with weights that keep the size of the features, and without the
    layers from the third on. Each experiment changes one thing, so the experiments in which the
    copy learns tell the cause. The model itself stays as it is.

    Args:
        found: a diagnosis of the model with its ``standing``
        model: the model
        data: as for :func:`~graphsct.diagnose`
        split: as for :func:`~graphsct.diagnose`
        call: as for :func:`~graphsct.diagnose`
        epochs: length of each experiment
        seed: of the new weights

    Returns:
        The diagnosis with its ``cause``

    Example:
        >>> from graphsct import datasets, diagnose, nn
        >>> data, model = datasets.demo(), nn.GCN(16, 16, 3, num_layers=2)
        >>> find_cause(diagnose(model, data), model, data).cause.name
        'training'
    """
    if found.standing is None:
        raise ModelError(
            "the cause of a failure is found by training, which needs labels y and masks of "
            "training and validation nodes"
        )
    bare = without_edges(data, model)
    ways: dict[str, tuple[Any, Change]] = {
        "started anew": (data, _nothing),
        "no edges": (bare, _nothing),
        "identity start": (data, _start_at_identity),
        "kept size": (data, _keep_size),
        "fewer layers": (data, _skip_layers),
    }
    skills: dict[str, float] = {}
    for name, (given, change) in ways.items():
        if given is not None:
            try:
                skills[name] = _try(found, model, given, change, split, call, epochs, seed)
            except ModelError:
                if name == "started anew":
                    raise
    experiments = tuple(Intervention(*pair) for pair in skills.items())
    return replace(found, cause=Cause(conclude(skills), epochs, experiments))


def _try(
    found: Diagnosis,
    model: nn.Module,
    data: Any,
    change: Change,
    split: Any,
    call: Call | None,
    epochs: int,
    seed: int,
) -> float:
    """The best skill on the training nodes of a changed copy in a short training."""
    assert found.standing is not None
    config = TrainConfig(
        epochs=epochs,
        patience=epochs,
        dense_weight_decay=0.0,
        seed=seed,
        metric=found.standing.metric,
    )
    new = copy.deepcopy(model)
    with seeded(seed):
        _reset(new)
        for weight in new.parameters():
            weight.requires_grad_()
        change(new, found, prepare(new, data, call))
        run = fit(trainable(new, data, call), data, config, split=split, progress=False)
    standing = found.standing
    return max(
        standing.skill(SplitScores(e.train_score, e.val_score), "train") for e in run.history
    )


def _reset(part: nn.Module) -> None:
    """Give a model new weights; a part with ``reset_parameters`` also resets the parts in it."""
    reset = getattr(part, "reset_parameters", None)
    if callable(reset):
        reset()
        return
    for child in part.children():
        _reset(child)


def _nothing(model: nn.Module, found: Diagnosis, run: Callable[[], Any]) -> None:
    pass


def _parts(model: nn.Module, found: Diagnosis) -> list[nn.Module]:
    parts = dict(model.named_modules())
    return [parts[name] for name in dict.fromkeys(layer.part for layer in found.layers)]


def _start_at_identity(model: nn.Module, found: Diagnosis, run: Callable[[], Any]) -> None:
    """Start the square weights of the layers at the identity."""
    weights = [w for part in _parts(model, found) for w in part.parameters() if w.dim() == 2]
    square = [weight for weight in weights if weight.shape[0] == weight.shape[1] > 1]
    if not square:
        raise ModelError("no layer has a square weight")
    for weight in square:
        nn.init.eye_(weight)


def _keep_size(model: nn.Module, found: Diagnosis, run: Callable[[], Any]) -> None:
    """Scale the matrices of every layer so that its entries start with a mean square of one."""
    hooks = [part.register_forward_hook(_rescale) for part in _parts(model, found)]
    with torch.no_grad(), undisturbed(model):
        run()
    for hook in hooks:
        hook.remove()


def _rescale(part: nn.Module, given: Any, output: Any) -> Any:
    if not isinstance(output, Tensor):
        return None
    size = output.square().mean().sqrt().clamp_min(1e-20)
    for weight in part.parameters():
        if weight.dim() > 1:
            weight.div_(size)
    return output / size


def _skip_layers(model: nn.Module, found: Diagnosis, run: Callable[[], Any]) -> None:
    """Leave out the layers from the third on that keep the width."""
    for part in _parts(model, found)[2:]:
        part.register_forward_hook(_input_of, with_kwargs=True)


def _input_of(part: nn.Module, given: Any, named: Any, output: Any) -> Any:
    if not isinstance(output, Tensor):
        return None
    taken = find_features((given, named), len(output))
    return taken if taken is not None and taken.shape == output.shape else None
