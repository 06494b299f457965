"""Whether remedies differ from a rival: paired tests of cells with equal data, model and depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphsct.remedies.board_cell import BoardCell
from graphsct.training.significance import LEVEL, Difference, compare_pairs, holm

__all__ = ["Contest", "contests"]


@dataclass(frozen=True)
class Contest:
    """A remedy against a rival of the same depth.

    Args:
        cell: cell of the remedy
        difference: test scores of the remedy minus the rival's, runs with the same seed paired
        p: of the difference, adjusted by Holm's method
    """

    cell: BoardCell
    difference: Difference
    p: float

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or ``level`` if no difference is shown."""
        if self.p >= LEVEL:
            return "level"
        return "better" if (self.difference.mean > 0) == self.cell.measure.larger else "worse"


def contests(cells: Sequence[BoardCell], rival: str) -> list[Contest]:
    """Compare every remedy with a rival on the same data, model and depth, where both have equally
    many runs.

    Args:
        cells: the cells over which Holm's method adjusts
        rival: name of the remedy to compare with
    """
    rivals = {cell.key: cell.scores() for cell in cells if cell.key.remedy == rival}
    found = []
    for cell in cells:
        scores, others = cell.scores(), rivals.get(cell.key._replace(remedy=rival), [])
        if cell.key.remedy != rival and len(scores) == len(others):
            difference = compare_pairs(scores, others)
            if difference is not None:
                found.append((cell, difference))
    adjusted = holm([difference.p for _, difference in found])
    return [Contest(*pair, p) for pair, p in zip(found, adjusted, strict=True)]
