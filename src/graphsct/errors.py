"""What graphsct raises when its input cannot be right."""

from __future__ import annotations

__all__ = ["GraphError", "ModelError", "UnreachableError"]


class GraphError(ValueError):
    """Input that is not an undirected graph, or features that do not belong to it.

    The message names the value that was wrong and the way out.
    """


class UnreachableError(GraphError):
    """A smoothness that no shift inside the eigenspace can produce."""


class ModelError(ValueError):
    """A layer or model that cannot be built as asked, or features that it cannot take.

    The message names the value that was wrong and the way out.
    """
