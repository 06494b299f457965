"""The exceptions of graphsct; the command prints them as one line.

A message names the wrong value and the way out. It names arguments as Python does, ``name=value``,
and the command shows its own options instead.
"""

from __future__ import annotations

__all__ = [
    "DataError",
    "DirectedGraphError",
    "DivergedError",
    "ExperimentError",
    "GraphError",
    "GraphsctError",
    "MissingExtraError",
    "ModelError",
    "TrainingError",
    "UnreachableError",
]


class GraphsctError(ValueError):
    """Base of all errors of this package."""


class GraphError(GraphsctError):
    """Input that is not an undirected graph, or features that do not belong to it."""


class DirectedGraphError(GraphError):
    """Edges without their reverse, or with another weight than their reverse.

    Args:
        message: the reason
        edge: the numbers of the two nodes of the first such edge
    """

    def __init__(self, message: str, edge: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.edge = edge


class UnreachableError(GraphError):
    """A smoothness that no shift inside the eigenspace can produce."""


class ModelError(GraphsctError):
    """A layer or model that cannot be built as asked, or features that it cannot take."""


class DataError(GraphsctError):
    """A data set or file that is missing, damaged or not the expected one."""


class TrainingError(GraphsctError):
    """A run that cannot be started, resumed or saved as asked."""


class DivergedError(TrainingError):
    """A run whose loss is not finite any more."""


class ExperimentError(GraphsctError):
    """An experiment or figure that does not exist, or settings that it cannot run with."""


class MissingExtraError(GraphsctError):
    """A package of an optional extra that is not installed."""
