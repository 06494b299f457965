"""What graphsct raises when something cannot be right; the command prints these as one line."""

from __future__ import annotations

__all__ = [
    "DataError",
    "DirectedGraphError",
    "ExperimentError",
    "GraphError",
    "GraphsctError",
    "MissingExtraError",
    "ModelError",
    "TrainingError",
    "UnreachableError",
]


class GraphsctError(ValueError):
    """Base of all errors of this package; the message names the wrong value and the way out."""


class GraphError(GraphsctError):
    """Input that is not an undirected graph, or features that do not belong to it."""


class DirectedGraphError(GraphError):
    """Edges without their reverse, or with another weight than their reverse."""


class UnreachableError(GraphError):
    """A smoothness that no shift inside the eigenspace can produce."""


class ModelError(GraphsctError):
    """A layer or model that cannot be built as asked, or features that it cannot take."""


class DataError(GraphsctError):
    """A data set or file that is missing, broken or not what it says it is."""


class TrainingError(GraphsctError):
    """A run that cannot start, go on or be saved as asked."""


class ExperimentError(GraphsctError):
    """An experiment or figure that does not exist, or settings with which it cannot run."""


class MissingExtraError(GraphsctError):
    """A package of an optional extra that is not installed."""
