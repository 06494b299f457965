"""What graphsct raises when its input cannot be right."""

from __future__ import annotations

__all__ = ["DataError", "GraphError", "UnreachableError"]


class GraphError(ValueError):
    """Input that is not an undirected graph, or features that do not belong to it.

    The message names the value that was wrong and the way out.
    """


class UnreachableError(GraphError):
    """A smoothness that no shift inside the eigenspace can produce."""


class DataError(ValueError):
    """A data set or a user's file that is missing, broken or not what it says it is.

    The message names the file with the line or index that was wrong, and the way out.
    """
