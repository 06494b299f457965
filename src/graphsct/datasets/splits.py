"""Splits of the nodes for training, validation and testing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphsct.datasets.targets import kind_of, labelled
from graphsct.errors import DataError

__all__ = ["Fractions", "PerClass", "Split", "TorchPerClass", "as_splits", "check_split"]


class Split(NamedTuple):
    """Three boolean masks over the nodes; shape of each: ``(n,)``."""

    train: Tensor
    val: Tensor
    test: Tensor


@dataclass(frozen=True)
class PerClass:
    """A fixed number of nodes per class for training and validation, all others for testing.

    Example:
        >>> split = PerClass(train=1, val=1).draw(torch.tensor([0, 0, 0, 1, 1, 1, -1]))
        >>> [int(mask.sum()) for mask in split]
        [2, 2, 2]
    """

    train: int = 20
    val: int = 30
    seed: int = 0

    def draw(self, y: Tensor) -> Split:
        """Draw from the labelled nodes; shape of ``y``, which are classes: ``(n,)``."""
        wanted = self.train + self.val
        if kind_of(y) != "classes":
            raise DataError(
                f"{self} draws nodes of each class, but the targets are {kind_of(y)}; use Fractions"
            )
        if self.train < 1 or self.val < 1:
            raise DataError(f"{self} asks for less than one node of each class")
        part = np.full(len(y), -1, dtype=np.int8)
        for label, nodes in enumerate(self._classes(y)):
            if len(nodes) < wanted:
                raise DataError(
                    f"class {label} has {len(nodes)} nodes, too few for train={self.train} and "
                    f"val={self.val} of each class; ask for fewer or use Fractions"
                )
            part[nodes] = 2
            part[nodes[:wanted]] = 1
            part[nodes[: self.train]] = 0
        return _as_split(part)

    def _classes(self, y: Tensor) -> Sequence[Any]:
        """The nodes of each class, shuffled."""
        return _shuffled_groups(y, self.seed)


class TorchPerClass(PerClass):
    """The same, with each class shuffled in turn by PyTorch's generator.

    The code of the energetic network, EGNN, and of many papers since draws its split of
    Coauthor-Physics like this, with seed 100.
    """

    def _classes(self, y: Tensor) -> Sequence[Any]:
        generator = torch.Generator().manual_seed(self.seed)
        groups = (torch.nonzero(y == label)[:, 0] for label in range(int(y.max()) + 1))
        return [nodes[torch.randperm(len(nodes), generator=generator)].numpy() for nodes in groups]


@dataclass(frozen=True)
class Fractions:
    """A share of each class for training and validation, the rest for testing.

    Each class has at least one training node. Of targets that are not classes, it is a share of all
    nodes that have one.

    Example:
        >>> split = Fractions(train=0.5, val=0.25).draw(torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]))
        >>> [int(mask.sum()) for mask in split]
        [4, 2, 2]
    """

    train: float = 0.48
    val: float = 0.32
    seed: int = 0

    def draw(self, y: Tensor) -> Split:
        """Draw from the labelled nodes; shape of ``y``: ``(n,)`` or ``(n, t)``."""
        if not (self.train > 0 and self.val > 0 and self.train + self.val < 1):
            raise DataError(f"{self}: fractions are positive and add up to less than 1")
        part = np.full(len(y), -1, dtype=np.int8)
        for nodes in _shuffled_groups(y, self.seed):
            first = max(1, round(self.train * len(nodes)))
            second = max(first, round((self.train + self.val) * len(nodes)))
            part[nodes] = 2
            part[nodes[:second]] = 1
            part[nodes[:first]] = 0
        return _as_split(part)


def _shuffled_groups(y: Tensor, seed: int) -> Sequence[Any]:
    """The nodes of each class, or all that have a target of another kind, shuffled.

    NumPy's generator is equal on all machines.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[labelled(y).numpy()[order]]
    if kind_of(y) != "classes":
        return [order]
    labels = y.numpy()
    order = order[np.argsort(labels[order], kind="stable")]
    classes, counts = np.unique(labels[order], return_counts=True)
    gaps = np.flatnonzero(classes != np.arange(len(classes)))
    if len(gaps):
        raise DataError(f"class {gaps[0]} has no node; labels run from 0 to C-1")
    return np.split(order, np.cumsum(counts)[:-1])


def _as_split(part: Any) -> Split:
    return Split(*(torch.from_numpy(part == k) for k in range(3)))


def as_splits(masks: Any) -> list[Split]:
    """The splits in an array of training, validation and test masks; shape: ``(3, k, n)``."""
    return [Split(*masks_of_one) for masks_of_one in torch.from_numpy(masks).transpose(0, 1)]


def check_split(split: Split, y: Tensor, *, every_class: bool, where: str = "the split") -> Split:
    """Return the split if its masks do not overlap and contain labelled nodes only.

    Args:
        split: the masks
        y: targets; shape: ``(n,)`` or ``(n, t)``
        every_class: refuse a class without a training node
        where: the name of the split in an error message
    """
    masks = split._asdict()
    for name, mask in masks.items():
        if mask.shape != y.shape[:1]:
            raise DataError(
                f"{where}: the {name} mask has shape {tuple(mask.shape)}, expected ({len(y)},)"
            )
    for (name, mask), (other, theirs) in combinations(masks.items(), 2):
        both = (mask & theirs).nonzero()
        if len(both):
            raise DataError(
                f"{where}: node {int(both[0])} is in {name} and in {other} (nodes in both: "
                f"{len(both)}); take them out of one"
            )
    known = labelled(y)
    for name, mask in masks.items():
        blank = (mask & ~known).nonzero()
        if len(blank):
            raise DataError(
                f"{where}: node {int(blank[0])} is in {name} but has no label (nodes of {name} "
                f"without a label: {len(blank)}); take them out of the mask"
            )
        if not bool(mask.any()):
            raise DataError(f"{where}: no node is in {name}")
    if every_class and kind_of(y) == "classes":
        present = sorted(set(y[split.train].tolist()))
        absent = next((i for i, found in enumerate(present) if i != found), len(present))
        if absent <= int(y.max()):
            raise DataError(
                f"{where}: class {absent} has no training node; put one of its nodes into train, "
                "or set the labels of that class to -1"
            )
    return split
