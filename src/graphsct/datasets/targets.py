"""Targets: what a model predicts of each node, or of each graph of a list.

There are three kinds, which the labels ``y`` tell apart:

- ``classes``: one class each; whole numbers of shape ``(n,)``, -1 for none
- ``labels``: several answers, yes or no; 0 and 1 as floats of shape ``(n, t)``, NaN for none
- ``numbers``: one or several numbers; other floats of shape ``(n,)`` or ``(n, t)``, NaN for none
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from graphsct.errors import DataError

__all__ = ["Kind", "check_targets", "kind_of", "labelled", "merged", "num_outputs", "only"]

Kind = Literal["classes", "labels", "numbers"]


def check_targets(y: Any, count: int | None = None, where: str = "y") -> Tensor:
    """The targets in the form of their kind, or an error that says what is wrong with them.

    Whole numbers of any type become classes, also with shape ``(n, 1)``; a matrix of 0 and 1 of any
    type becomes labels.

    Args:
        y: the targets; shape: ``(n,)`` or ``(n, t)``
        count: the number n, if it is known
        where: name of the targets in an error

    Example:
        >>> check_targets(torch.tensor([[2], [0]], dtype=torch.int32))
        tensor([2, 0])
    """
    if not isinstance(y, Tensor) or y.dim() not in (1, 2) or y.is_complex():
        what = f"{y.dtype} {tuple(y.shape)}" if isinstance(y, Tensor) else type(y).__name__
        raise DataError(f"{where} is {what}, expected a tensor of shape (n,) or (n, targets)")
    if y.layout != torch.strided or y.is_meta or not y.numel():
        what = f"a {y.layout} tensor of shape {tuple(y.shape)} on {y.device}"
        raise DataError(f"{where} is {what}, expected a dense one with values")
    if count is not None and len(y) != count:
        raise DataError(f"{where} has {len(y)} rows, expected {count}: one for each node")
    found: Tensor = y
    if found.is_floating_point():
        if bool(found.isinf().any()) or bool(found.isnan().all()):
            raise DataError(f"{where} holds infinite numbers, or nothing but NaN")
        return found
    found = found.long()
    if found.dim() == 2 and found.shape[1] > 1:
        if not bool(((found == 0) | (found == 1)).all()):
            raise DataError(
                f"{where} has {found.shape[1]} columns of whole numbers, which are neither classes "
                "of shape (n,) nor labels of 0 and 1; make it float to predict numbers"
            )
        return found.to(torch.get_default_dtype())
    found = found.reshape(-1)
    low, high = int(found.min()), int(found.max())
    if low < -1 or high < 0:
        raise DataError(
            f"{where} runs from {low} to {high}; classes are 0, 1, ..., and -1 is a node without a "
            "label"
        )
    return found


def kind_of(y: Tensor) -> Kind:
    """The kind of targets in the form of :func:`check_targets`.

    Example:
        >>> kind_of(torch.tensor([0, 2, -1])), kind_of(torch.tensor([0.5, 2.0]))
        ('classes', 'numbers')
        >>> kind_of(torch.tensor([[0.0, 1.0], [1.0, torch.nan]]))
        'labels'
    """
    if not y.is_floating_point():
        return "classes"
    binary = y.dim() == 2 and bool(((y == 0) | (y == 1) | y.isnan()).all())
    return "labels" if binary else "numbers"


def labelled(y: Tensor) -> Tensor:
    """Which nodes have a target; with several targets, at least one; shape: ``(n,)`` of bool."""
    if not y.is_floating_point():
        return y >= 0
    return ~y.isnan() if y.dim() == 1 else ~y.isnan().all(dim=1)


def num_outputs(y: Tensor) -> int:
    """Number of outputs of a model: one for each class, label or number."""
    if not y.is_floating_point():
        return int(y.max()) + 1
    return 1 if y.dim() == 1 else y.shape[1]


def only(y: Tensor, nodes: Tensor) -> Tensor:
    """The targets of some nodes; those of all other nodes are removed.

    Args:
        y: targets; shape: ``(n,)`` or ``(n, t)``
        nodes: mask of the nodes; shape: ``(n,)`` of bool
    """
    shown = nodes if y.dim() == 1 else nodes.unsqueeze(1)
    return torch.where(shown, y, torch.nan if y.is_floating_point() else -1)


def merged(several: Sequence[Tensor]) -> Tensor:
    """Combine tensors of targets; where two of them have a target, the two agree."""
    found = several[0]
    for y in several[1:]:
        missing = found.isnan() if y.is_floating_point() else found < 0
        found = torch.where(missing, y, found)
    return found
